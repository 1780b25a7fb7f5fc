import type { Maybe } from "../envelope/index.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The idempotency key of a plain request without one: its id, so that a repeated request is not worked on twice. Only a UUID, as the
 * seeds require: senders that count (`1`, `2`) begin again with every start.
 */
export function keyOfRequestId(id: Maybe<string>): Maybe<string> {
  return id !== undefined && UUID.test(id) ? id : undefined;
}
