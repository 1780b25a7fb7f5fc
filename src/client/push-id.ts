import type { PushConfig } from "../envelope/index.js";

/** Every try of one notification carries the same id, so that a receiver can drop what it has taken already. */
export const PUSH_ID_HEADER = "idempotency-key";

export function pushId({ taskId, id }: PushConfig, seq: number): string {
  return `${encodeURIComponent(taskId)}:${encodeURIComponent(id)}:${seq}`;
}
