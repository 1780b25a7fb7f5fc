import type { Card, Handler, Layer, Maybe } from "../envelope/index.js";
import { stack } from "../policies/index.js";
import { type Front, front } from "../protocols/front.js";
import { createHost, type HostParts } from "../protocols/host.js";
import type { Protocol } from "../protocols/protocol.js";

export interface RelayOptions extends Omit<HostParts, "handler" | "cards"> {
  /** The peer behind: the client half of whatever it speaks. */
  readonly upstream: Handler;
  readonly card: Card;
  /** What is spoken in front. */
  readonly protocols: readonly Protocol[];
  readonly layers?: Maybe<readonly Layer[]>;
}

/**
 * One peer behind other protocols, ids passed unchanged and nothing kept: server halves around layers around a client
 * half. For one trust domain only, because the peer sees one caller where there are many.
 */
export function relay({ upstream, card, protocols, layers, ...parts }: RelayOptions): Front {
  const handler = stack(layers ?? [])(upstream);
  // The peer's own document leads past the relay.
  return front(createHost({ ...parts, handler, cards: [{ ...card, original: undefined }] }), protocols);
}
