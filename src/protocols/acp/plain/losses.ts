import type { DeclaredLoss, Traits } from "../../protocol.js";
import { PLAIN } from "./discover.js";

/** Jobs can be looked up, and nothing else. */
export const plainTraits: Partial<Traits> = { proofs: false };

const NO_MEMBER = "the plain form has no member for it";

export const plainLosses: readonly DeclaredLoss[] = [
  lost("message.references", NO_MEMBER),
  lost("message.extensions", NO_MEMBER),
  lost("message.extra", NO_MEMBER),
  lost("message.intent", NO_MEMBER),
  lost("message.meta.retryCount", NO_MEMBER),
  lost("message.parts[].metadata", NO_MEMBER),
  lost("message.parts[].mediaType", "the media type of unknown bytes is read as none"),
  lost("operation.outputModes", NO_MEMBER),
  lost("operation.historyLength", NO_MEMBER),
  lost("operation.metadata", NO_MEMBER),
  lost("operation.push", "the plain endpoints have no push notifications"),
  lost("operation.task.list", "the plain endpoints list no jobs"),
  lost("operation.task.cancel", "the plain endpoints cannot cancel a job"),
  lost("task.history", "the status of a job contains only its results"),
  lost("task.metadata", "the status of a job has no metadata"),
  lost("task.artifacts", "the results of a job are one list"),
];

function lost(path: string, reason: string): DeclaredLoss {
  return { version: PLAIN.version, path, reason };
}
