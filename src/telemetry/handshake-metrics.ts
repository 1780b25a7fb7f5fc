import type { HandshakeSink } from "../transport/exchange.js";
import { type Edge, OTHER } from "./edge.js";
import type { Metrics } from "./metrics.js";

/** A connection has no caller, agent or protocol before its handshake. */
const NOBODY: Edge = { srcAgent: OTHER, dstId: OTHER, protocol: OTHER };

/** Connections of a TLS listener that wait for their handshake. The series exist from the start. */
export function handshakeMetrics(metrics: Metrics): HandshakeSink {
  const waiting = metrics.gauge("HANDSHAKES_WAITING", "Connections that wait for their TLS handshake").edge(NOBODY);
  const refused = metrics.counter("HANDSHAKES_REFUSED", "Connections closed because they waited too long for it").edge(NOBODY);
  waiting.add(0);
  refused.add(0);
  return { waiting: (change) => waiting.add(change), refused: () => refused.add(1) };
}
