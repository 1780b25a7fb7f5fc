import type { Call, Card, Event, Operation, Reply } from "../envelope/index.js";
import { withHops } from "./hops.js";
import type { Upstream } from "./upstream.js";

/**
 * Ids and answers pass as they are and nothing is kept: for one trust domain only, because the peer sees one caller where
 * there are many, unless their own credentials go along. Cards are the gateway's own.
 */
export function relaying(
  { handler }: Upstream,
  shown: (card: Card) => Card,
): (operation: Operation, call: Call) => Reply | undefined {
  return (operation, call) => {
    const onward = call.derive({ hops: call.hops + 1 });
    switch (operation.kind) {
      case "card":
        return operation.extended ? extended(handler(operation, onward), shown) : undefined;
      case "send":
        return handler({ ...operation, envelope: withHops(operation.envelope, onward.hops) }, onward);
      default:
        return handler(operation, onward);
    }
  };
}

async function extended(reply: Reply, shown: (card: Card) => Card): Promise<Event> {
  const event = await (reply as Promise<Event>); // one card answers the question for one
  return event.kind === "card" ? { ...event, card: shown(event.card) } : event;
}
