import { AgentError, type Maybe } from "../../envelope/index.js";

/** Longer DIDs are refused. */
const MAX_DID_CHARS = 512;
/** W3C DID Core §3.1, without path, query and fragment. */
const DID = /^did:([a-z0-9]+):((?:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})*:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+)$/;

/** The parts of a DID. */
export interface Did {
  readonly method: string;
  /** What follows `did:method:`. */
  readonly id: string;
}

/** Undefined if the text is no DID. A DID URL with a path or fragment is none. */
export function parseDid(text: string): Maybe<Did> {
  const match = text.length > MAX_DID_CHARS ? null : DID.exec(text);
  const [, method, id] = match ?? [];
  return method === undefined || id === undefined ? undefined : { method, id };
}

/** Throws `invalid_message` if the text is no DID. */
export function checkedDid(text: string): Did {
  const did = parseDid(text);
  if (did !== undefined) return did;
  throw new AgentError("invalid_message", `${JSON.stringify(text.slice(0, 200))} is not a DID; expected did:method:id`, {
    field: "did",
    sent: "no",
  });
}

/** The DID in a DID URL such as that of a key. */
export function didOfUrl(url: string): string {
  return url.split(/[/?#]/, 1)[0] ?? url;
}
