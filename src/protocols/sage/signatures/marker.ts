import type { RequestHead } from "../../../transport/exchange.js";
import { AUTHOR_HEADER, DID_HEADER, SESSION_HEADER, STREAM_HEADER, TAG } from "../wire.js";

const FIELDS = [DID_HEADER, SESSION_HEADER, STREAM_HEADER, AUTHOR_HEADER] as const;

/** Whether a request says that it is one of SAGE, in whichever way. It is then never handled as anything else. */
export function isMarked({ headers }: Pick<RequestHead, "headers">): boolean {
  return FIELDS.some((name) => headers[name] !== undefined) || headers["signature-input"]?.includes(`"${TAG}"`) === true;
}

/** Whether a request is signed with the key of a session, which no registry knows. */
export function isBySession({ headers }: Pick<RequestHead, "headers">): boolean {
  const session = headers[SESSION_HEADER];
  return session !== undefined && headers["signature-input"]?.includes(`keyid="${session}"`) === true;
}
