import type { Envelope } from "./envelope.js";
import type { AgentEvent } from "./event.js";
import { type Floor, NO_FLOOR } from "./floor.js";
import type { Part } from "./part.js";
import type { Status } from "./task.js";

/** The media type of ciphertext, always a raw part. Its associated data travels inside its bytes. */
export const SEALED_TYPE = "application/vnd.koine.sealed";

/** Whether a part is ciphertext. Only its recipient can read it, so nothing on the way may change, move or judge it. */
export function isSealed({ kind, mediaType }: Part): boolean {
  if (kind !== "raw" || mediaType === undefined) return false;
  return mediaType === SEALED_TYPE || mediaType.toLowerCase() === SEALED_TYPE;
}

/** Whether a message carries signatures of its author or ciphertext: a protocol that cannot carry those must not send the rest. */
export function isProtected({ proofs, content }: Pick<Envelope, "proofs" | "content">): boolean {
  return (proofs !== undefined && proofs.length > 0) || content.some(isSealed);
}

/** The protection that a message has by itself, over any connection: all parts sealed, or signed where proofs are carried. */
export function protectionOf({ proofs, content }: Envelope, carries: { readonly proofs: boolean }): Floor {
  const sealed = content.length > 0 && content.every(isSealed);
  const signed = carries.proofs && proofs !== undefined && proofs.length > 0;
  return sealed || signed ? { encrypted: sealed, signed, endToEnd: sealed, identity: false } : NO_FLOOR;
}

/** Whether an event contains a message or an artifact with signatures or ciphertext. */
export function hasProtected(event: AgentEvent): boolean {
  switch (event.kind) {
    case "message":
      return isProtected(event.message);
    case "status":
      return inStatus(event.status);
    case "artifact":
      return event.artifact.parts.some(isSealed);
    case "task":
      return inTask(event.task);
    case "tasks":
      return event.tasks.some(inTask);
    default:
      return false;
  }
}

function inTask({ status, history, artifacts }: Extract<AgentEvent, { readonly kind: "task" }>["task"]): boolean {
  return inStatus(status) || history.some(isProtected) || artifacts.some(({ parts }) => parts.some(isSealed));
}

function inStatus({ message }: Status): boolean {
  return message !== undefined && isProtected(message);
}
