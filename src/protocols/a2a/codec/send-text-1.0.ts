import type { Maybe, OperationOf } from "../../../envelope/index.js";
import { messageText } from "./event-text-1.0.js";

/**
 * The params of a send as JSON text: the same text as that of `writeRequest`. Undefined with any of the rarer members. As of events, an
 * object to stringify costs three times as much.
 */
export function writeSendText({
  envelope,
  delivery,
  historyLength,
  outputModes,
  push,
  metadata,
}: OperationOf<"send">): Maybe<string> {
  const isPlain = historyLength === undefined && push === undefined && metadata === undefined && !outputModes?.length;
  const message = isPlain && delivery !== "accepted" ? messageText(envelope, false) : undefined;
  return message && `{"message":${message}}`;
}
