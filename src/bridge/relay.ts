import type { AgentEvent, Call, Card, Envelope, Handler, Layer, Loss, Maybe, Operation, Reply } from "../envelope/index.js";
import { isOwnMark, withHops } from "../policies/hops.js";
import { stack } from "../policies/index.js";
import { type Front, front } from "../protocols/front.js";
import { createHost, type HostParts } from "../protocols/host.js";
import type { Protocol } from "../protocols/protocol.js";
import type { Upstream } from "./upstream.js";

/** Options of `relay`. */
export interface RelayOptions extends Omit<HostParts, "handler" | "cards"> {
  /** The client of the upstream peer. */
  readonly upstream: Handler;
  /** The card to publish. */
  readonly card: Card;
  /** The protocols of the listener. */
  readonly protocols: readonly Protocol[];
  /** Policies around upstream calls, outermost first. Default: none. */
  readonly layers?: Maybe<readonly Layer[]>;
}

/**
 * Serves one peer in other protocols. Ids are passed unchanged and nothing is stored. For one trust domain only: the peer sees
 * all callers as one.
 */
export function relay({ upstream, card, protocols, layers, ...parts }: RelayOptions): Front {
  const handler = stack(layers ?? [])(upstream);
  // The peer's own document names addresses that bypass the relay.
  return front(createHost({ ...parts, handler, cards: [{ ...card, original: undefined }] }), protocols);
}

/**
 * Passes operations to the upstream unchanged and stores nothing. For one trust domain only: the upstream sees all callers as
 * one, unless their credentials are forwarded. Public cards are the gateway's own.
 */
export function relayTasks(
  { handler }: Upstream,
  rewriteCard: (card: Card) => Card,
): (operation: Operation, call: Call) => Reply | undefined {
  return (operation, call) => {
    const extra = operation.kind === "send" ? operation.envelope.extra : undefined;
    const reportLoss = (loss: Loss): void => (isOwnMark(loss, extra) ? undefined : call.reportLoss(loss));
    const outgoing = call.derive({ hops: call.hops + 1, reportLoss });
    switch (operation.kind) {
      case "card":
        return operation.extended ? extended(handler(operation, outgoing), rewriteCard) : undefined;
      case "send":
        return handler({ ...operation, envelope: withHops(withoutHint(operation.envelope), outgoing.hops) }, outgoing);
      default:
        return handler(operation, outgoing);
    }
  };
}

/** A hint for the listener does not apply to the upstream. */
function withoutHint(envelope: Envelope): Envelope {
  return envelope.meta.protocolHint === undefined
    ? envelope
    : { ...envelope, meta: { ...envelope.meta, protocolHint: undefined } };
}

async function extended(reply: Reply, rewriteCard: (card: Card) => Card): Promise<AgentEvent> {
  const event = await (reply as Promise<AgentEvent>); // a card request has one answer
  return event.kind === "card" ? { ...event, card: rewriteCard(event.card) } : event;
}
