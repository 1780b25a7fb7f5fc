import type { Card, Handler, Maybe, OperationOf } from "../envelope/index.js";
import type { RelayedPeer, Traits } from "../protocols/protocol.js";

/** The protocol traits a bridge needs. */
export type UpstreamTraits = Pick<Traits, "streaming" | "tasks" | "inputTurns">;

/** The upstream of a bridge. Its protocol may change between calls, so its facts are functions. */
export interface Upstream {
  readonly handler: Handler;
  /** The id of the protocol in use. */
  protocol(): string;
  traits(): UpstreamTraits;
  card(): Card;
  /** The one peer that gets every call, where there is one. */
  peer?(): Maybe<RelayedPeer>;
}

/** Whether both its protocol and its card support streaming. */
export function canStream(upstream: Upstream): boolean {
  return upstream.traits().streaming && upstream.card().capabilities.streaming;
}

type Delivery = OperationOf<"send">["delivery"];

/** Why a task id is wanted early: the caller may send again with its key, or drops calls and leaves their work behind. */
export interface TaskIdNeeds {
  readonly key: boolean;
  readonly taskId: boolean;
}

/** The delivery to request from the upstream: one that yields a task id early, where resuming or cancelling matters. */
export function upstreamDelivery(delivery: Delivery, upstream: Upstream, { key, taskId }: TaskIdNeeds): Delivery {
  // Only a stream yields the task id early and the answer without another request.
  const early = ((key || taskId) && canStream(upstream)) || (taskId && upstream.traits().tasks);
  if (delivery === "answer" && !early) return "answer";
  return canStream(upstream) ? "stream" : "accepted";
}
