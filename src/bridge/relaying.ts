import type { AgentEvent, Call, Card, Envelope, Loss, Operation, Reply } from "../envelope/index.js";
import { isOwnMark, withHops } from "../policies/hops.js";
import type { Upstream } from "./upstream.js";

/**
 * Ids and answers pass as they are and nothing is kept: for one trust domain only, because the peer sees one caller where
 * there are many, unless their own credentials go along. Cards are the gateway's own.
 */
export function relayTasks(
  { handler }: Upstream,
  shown: (card: Card) => Card,
): (operation: Operation, call: Call) => Reply | undefined {
  return (operation, call) => {
    const extra = operation.kind === "send" ? operation.envelope.extra : undefined;
    const lose = (loss: Loss): void => (isOwnMark(loss, extra) ? undefined : call.reportLoss(loss));
    const onward = call.derive({ hops: call.hops + 1, reportLoss: lose });
    switch (operation.kind) {
      case "card":
        return operation.extended ? extended(handler(operation, onward), shown) : undefined;
      case "send":
        return handler({ ...operation, envelope: withHops(withoutHint(operation.envelope), onward.hops) }, onward);
      default:
        return handler(operation, onward);
    }
  };
}

/** Which way is taken in front says nothing about the way behind. */
function withoutHint(envelope: Envelope): Envelope {
  return envelope.meta.protocolHint === undefined
    ? envelope
    : { ...envelope, meta: { ...envelope.meta, protocolHint: undefined } };
}

async function extended(reply: Reply, shown: (card: Card) => Card): Promise<AgentEvent> {
  const event = await (reply as Promise<AgentEvent>); // one card answers the question for one
  return event.kind === "card" ? { ...event, card: shown(event.card) } : event;
}
