import type { PushConfig } from "../envelope/index.js";

/** Every attempt to deliver one notification carries the same id, so that a receiver can drop duplicates. */
export const PUSH_ID_HEADER = "idempotency-key";

export function pushId({ taskId, id }: PushConfig, seq: number): string {
  return `${encodeURIComponent(taskId)}:${encodeURIComponent(id)}:${seq}`;
}
