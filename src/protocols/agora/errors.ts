import {
  AgentError,
  type ErrorCode,
  type ErrorFacts,
  isErrorCode,
  type JsonObject,
  type Maybe,
  type Task,
} from "../../envelope/index.js";
import type { HttpResponse } from "../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../transport/response.js";
import { CODE_OF_STATUS } from "../../transport/status-codes.js";
import { aboutTask, type ReadReply } from "./codec.js";
import type { Dialect, WireMetadata, WireReply } from "./wire.js";

/** Error texts of the Python library. Peers compare them, and so does this client. */
export const CONVERSATION_NOT_FOUND = "Conversation not found.";
export const DOWNLOAD_FAILED = "Failed to download protocol";
const NOT_SUITABLE = "is not suitable for execution";

/**
 * No error is answered with 200: the sender of the Python library ignores `status` and would take the error text for the answer.
 * Any other HTTP status is a transport error there.
 */
export const HTTP_STATUS = {
  invalid_message: 400,
  decode: 400,
  too_large: 413,
  unsupported_content: 415,
  unauthenticated: 401,
  bad_signature: 401,
  identity_unresolved: 401,
  forbidden: 403,
  not_found: 404,
  task_not_found: 404,
  session_expired: 404,
  unsupported_method: 405,
  not_cancelable: 409,
  task_closed: 409,
  conflict: 409,
  replayed: 409,
  expired: 410,
  unsupported: 422,
  unsupported_version: 422,
  push_unsupported: 422,
  extension_required: 422,
  card_not_configured: 422,
  downgrade_refused: 422,
  overloaded: 429,
  cancelled: 499,
  encode: 500,
  internal: 500,
  lost_place: 500,
  bad_peer: 502,
  handshake_failed: 502,
  interrupted: 502,
  unavailable: 503,
  deadline: 504,
  loop: 508,
} as const satisfies Record<ErrorCode, number>;

/** The document is not supported here. Every dialect has its own code for that. */
export function unsuitable(hash: string): AgentError {
  return new AgentError("unsupported", `${hash} ${NOT_SUITABLE}`, { field: "protocolHash" });
}

function isNotSuitable({ code, facts }: AgentError): boolean {
  return code === "unsupported" && facts.field === "protocolHash";
}

/** How an error is encoded. */
export interface ErrorForm {
  readonly dialect: Dialect;
  /** The caller runs Koine and reads the Koine error code. */
  readonly whole: boolean;
  /** The failed task. */
  readonly task?: Maybe<Task>;
}

/** An error in the format of the dialect. Always includes `body`, which readers of every dialect use. */
export function errorReply(error: AgentError, form: ErrorForm): HttpResponse {
  // The specification defines this reply for an unsupported document, as an ordinary answer.
  if (form.dialect === "spec" && isNotSuitable(error) && !form.whole) return jsonResponse(200, '{"status":"rejected"}');
  const { message } = error;
  const about = form.task === undefined ? undefined : aboutTask(form.task, message);
  const metadata: Maybe<WireMetadata> = form.whole
    ? { koine: 1, code: error.code, detail: error.facts.detail, ...about }
    : undefined;
  const reply: WireReply =
    form.dialect === "spec"
      ? { status: "failure", body: message, metadata }
      : { status: "error", message, body: message, metadata };
  return jsonResponse(HTTP_STATUS[error.code], JSON.stringify(reply), errorHeaders(error));
}

/** The error of an unsuccessful reply. `facts.status` is the HTTP status. */
export function decodeErrorReply(reply: ReadReply, facts: ErrorFacts = {}): AgentError {
  const { status, body, metadata } = reply;
  const text = body === "" ? `the peer says ${status}` : body;
  const { code, detail } = metadata;
  if (code !== undefined && isErrorCode(code))
    return new AgentError(code, text, detail === undefined ? facts : { ...facts, detail: textsIn(detail) });
  if (status === "rejected" || body.endsWith(NOT_SUITABLE))
    return new AgentError("unsupported", text, { ...facts, field: "protocolHash" });
  if (body === CONVERSATION_NOT_FOUND) return new AgentError("session_expired", text, facts);
  return new AgentError(codeOfStatus(facts.status) ?? "bad_peer", text, facts);
}

/** Details of one error, and characters of each. */
const DETAILS = 32;
const DETAIL_CHARACTERS = 2_000;

function textsIn(detail: JsonObject): Record<string, string> {
  const texts = Object.entries(detail)
    .slice(0, DETAILS)
    .filter((each): each is [string, string] => typeof each[1] === "string");
  return Object.fromEntries(texts.map(([name, text]) => [name, text.slice(0, DETAIL_CHARACTERS)]));
}

/** The error code for a status alone, for peers that send nothing more specific. */
export function codeOfStatus(status: Maybe<number>): Maybe<ErrorCode> {
  return status === 400 ? "invalid_message" : CODE_OF_STATUS.get(status);
}
