import {
  type Envelope,
  type ErrorCode,
  type Failure,
  isErrorCode,
  type Maybe,
  type Metadata,
  type Status,
  textPart,
} from "../../../envelope/index.js";
import { DecodeProblem, kindOf, readObject, readString } from "../../../transport/fields.js";
import { withoutKey } from "./envelope-extension.js";

/**
 * The metadata member of a failed task's status message with the Koine error: A2A carries only a text. `alone` marks a message
 * that was created for it.
 */
const FAILURE_KEY = "urn:koine:failure:1";

/** The status message to write: the given one with the failure added, or one created from the failure. */
export function statusMessage(status: Status, taskId: string, contextId: string): Maybe<Envelope> {
  if (status.state !== "failed" || status.error === undefined) return status.message;
  const { code, message } = status.error;
  const given = status.message;
  if (given !== undefined) return { ...given, metadata: { ...given.metadata, [FAILURE_KEY]: { code, message } } };
  return {
    id: `${taskId}-failure`,
    ts: status.at / 1000,
    src: "",
    dst: "",
    intent: "",
    role: "agent",
    content: [textPart(message)],
    context: { sessionId: contextId, taskId },
    meta: {},
    metadata: { [FAILURE_KEY]: { code, message, alone: true } },
  };
}

/** The failure in a status message, and the rest of the message. */
export function takeFailure(
  message: Maybe<Envelope>,
  path: string,
): { readonly error: Maybe<Failure>; readonly message: Maybe<Envelope> } {
  const found = message?.metadata?.[FAILURE_KEY];
  if (message === undefined || found === undefined) return { error: undefined, message };
  const at = `${path}.metadata["${FAILURE_KEY}"]`;
  const value = readObject(found, at);
  const error = { code: readCode(value.code, `${at}.code`), message: readString(value.message, `${at}.message`) };
  if (value.alone === true) return { error, message: undefined };
  const metadata: Metadata = message.metadata ?? {};
  return { error, message: { ...message, metadata: withoutKey(metadata, FAILURE_KEY) } };
}

function readCode(value: unknown, path: string): ErrorCode {
  if (isErrorCode(value)) return value;
  throw new DecodeProblem(path, `must be a Koine error code, not ${typeof value === "string" ? "another word" : kindOf(value)}`);
}
