import type { Card, Handler } from "../envelope/index.js";
import type { Traits } from "../protocols/protocol.js";

/** The protocol traits a bridge needs. */
export type UpstreamTraits = Pick<Traits, "streaming" | "tasks" | "inputTurns" | "opensConversations">;

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
