import type { Card, Handler, OperationOf } from "../envelope/index.js";
import type { Traits } from "../protocols/protocol.js";

/** The protocol traits a bridge needs. */
export type UpstreamTraits = Pick<Traits, "streaming" | "tasks" | "inputTurns">;

/** The upstream of a bridge. Its protocol may change between calls, so its facts are functions. */
export interface Upstream {
  readonly handler: Handler;
  /** The id of the protocol in use. */
  protocol(): string;
  traits(): UpstreamTraits;
  card(): Card;
}

/** Whether both its protocol and its card support streaming. */
export function canStream(upstream: Upstream): boolean {
  return upstream.traits().streaming && upstream.card().capabilities.streaming;
}

type Delivery = OperationOf<"send">["delivery"];

/** The delivery to request from the upstream: one that yields a task id early, where resuming matters. */
export function upstreamDelivery(delivery: Delivery, upstream: Upstream, hasKey: boolean): Delivery {
  // A caller with an idempotency key may retry: only a stream yields the upstream task id early.
  if (delivery === "answer" && !(hasKey && canStream(upstream))) return "answer";
  return canStream(upstream) ? "stream" : "accepted";
}
