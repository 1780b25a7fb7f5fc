import type { RelayedSessionFacts, Session } from "../transport/exchange.js";
import type { Metrics } from "./metrics.js";
import { labelOfCaller } from "./server-metering.js";

/** Counts what passes a relay unopened: there are no calls that could be counted. */
export type RelayMetrics = (session: Session, facts: RelayedSessionFacts) => void;

export function relayMetrics(metrics: Metrics): RelayMetrics {
  const messages = metrics.counter("RELAYED_MESSAGES", "Messages of sealed sessions passed on unopened, both directions");
  const bytes = metrics.counter("RELAYED_BYTES", "Bytes of these messages");
  return (session, { agent, protocol, caller }) => {
    const edge = { srcAgent: labelOfCaller(caller), dstId: agent, protocol };
    const [count, size] = [messages.edge(edge), bytes.edge(edge)];
    const passed = (_frame: unknown, length: number): void => {
      count.add(1);
      size.add(length);
    };
    session.tap({ received: passed, sent: passed });
  };
}
