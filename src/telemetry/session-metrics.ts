import type { SessionEnd } from "../transport/exchange.js";
import type { Edge } from "./edge.js";
import type { Metrics } from "./metrics.js";

/** RFC 6455 §7.4.1: the purpose is fulfilled, an endpoint goes away, no code was given. Every other code is a failure. */
const NORMAL_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** Counts sessions. The labels of an end are those of the opening, so that the gauge returns to zero. */
export interface SessionMetrics {
  /** A session was opened. Call the returned function when it has ended. */
  opened(edge: Edge): (end: SessionEnd) => void;
}

/** Registers the families at once: a name that is already taken is an error at start and not one of a session. */
export function sessionMetrics(metrics: Metrics): SessionMetrics {
  const open = metrics.gauge("SESSIONS_OPEN", "Sessions that are open");
  const ended = metrics.counter("SESSIONS_ENDED", "Sessions that ended");
  const failed = metrics.counter("SESSIONS_FAILED", "Sessions that broke or were closed with an error code");
  return {
    opened(edge) {
      const [nowOpen, allEnded, allFailed] = [open.edge(edge), ended.edge(edge), failed.edge(edge)];
      nowOpen.add(1);
      return ({ code }) => {
        nowOpen.add(-1);
        allEnded.add(1);
        if (!NORMAL_CODES.has(code)) allFailed.add(1);
      };
    },
  };
}
