import type { Card, Handler } from "../envelope/index.js";
import type { Traits } from "../protocols/protocol.js";

/** What a wire can do, as far as a bridge asks. */
export type UpstreamTraits = Pick<Traits, "streaming" | "tasks" | "inputTurns">;

/** The peer behind a bridge. What it speaks may change while it is called, so everything is asked when it is needed. */
export interface Upstream {
  readonly handler: Handler;
  /** The id of the protocol that is spoken with it. */
  protocol(): string;
  traits(): UpstreamTraits;
  card(): Card;
}

/** Both its wire and itself can stream. */
export function canStream(upstream: Upstream): boolean {
  return upstream.traits().streaming && upstream.card().capabilities.streaming;
}
