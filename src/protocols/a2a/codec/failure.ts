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
 * The metadata member of a failed task's status message that holds why it failed, in our codes: A2A has only the text.
 * `alone` marks a message that was made for this and says nothing else.
 */
const FAILURE_KEY = "urn:koine:failure:1";

/** The message to write with a status: its own, with the failure added; or one made of the failure's words. */
export function statusMessage(status: Status, taskId: string, contextId: string): Maybe<Envelope> {
  if (status.state !== "failed" || status.error === undefined) return status.message;
  const { code, message } = status.error;
  const said = status.message;
  if (said !== undefined) return { ...said, metadata: { ...said.metadata, [FAILURE_KEY]: { code, message } } };
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

/** The failure found in a status message, and what is left of the message. */
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
  throw new DecodeProblem(
    path,
    `must be an error code of ours, not ${typeof value === "string" ? "another word" : kindOf(value)}`,
  );
}
