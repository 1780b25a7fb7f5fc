import type { DeclaredLoss, Traits } from "../../protocol.js";
import { PLAIN } from "./discover.js";

/** The plain endpoint answers messages, and has nothing to find their tasks by. */
export const plainTraits: Partial<Traits> = { tasks: false, proofs: false };

const NO_MEMBER = "the plain form has no member for it";

export const plainLosses: readonly DeclaredLoss[] = [
  lost("message.references", NO_MEMBER),
  lost("message.extensions", NO_MEMBER),
  lost("message.metadata", NO_MEMBER),
  lost("message.extra", NO_MEMBER),
  lost("message.intent", NO_MEMBER),
  lost("message.parts[].name", "the plain form has file names on files only"),
  lost("message.parts[].mediaType", "the plain form has media types on files only"),
  lost("operation.delivery=accepted", "the plain endpoint answers when the work is done"),
  lost("operation.outputModes", NO_MEMBER),
  lost("operation.historyLength", NO_MEMBER),
  lost("operation.metadata", NO_MEMBER),
  lost("operation.push", "the plain endpoint has no push notifications"),
  lost("operation.task", "the plain endpoint has no task operations"),
];

function lost(path: string, reason: string): DeclaredLoss {
  return { version: PLAIN.version, path, reason };
}
