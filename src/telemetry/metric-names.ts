import type { Maybe } from "../envelope/index.js";

/** `upper`: REQUEST_LATENCY. `both`: also koine_request_latency_seconds. */
export type MetricNames = "upper" | "both";

interface Named {
  readonly name: string;
  readonly unit?: Maybe<string>;
}

/** The names of our metrics by the rules of OpenMetrics: a namespace, the base unit, and `_total` for counters. */
const OPEN_NAMES: { readonly [name: string]: Named } = {
  REQUEST_LATENCY: { name: "koine_request_latency_seconds", unit: "seconds" },
  REQUEST_FAILURES: { name: "koine_request_failures_total" },
  REQUEST_RETRIES: { name: "koine_request_retries_total" },
  MSG_BYTES: { name: "koine_message_bytes_total", unit: "bytes" },
  MSG_BYTES_PAYLOAD: { name: "koine_message_payload_bytes_total", unit: "bytes" },
  MSG_BYTES_RETRY_OVERHEAD: { name: "koine_message_overhead_bytes_total", unit: "bytes" },
  ROUTER_DECISIONS: { name: "koine_router_decisions_total" },
  HEDGE_FIRES: { name: "koine_hedge_fires_total" },
  FLOOR_LOWERED: { name: "koine_floor_lowered_total" },
  FLOOR_REFUSED: { name: "koine_floor_refused_total" },
  CIRCUIT_STATE: { name: "koine_circuit_state" },
  QUEUE_DEPTH: { name: "koine_queue_depth" },
  UPSTREAM_UP: { name: "koine_upstream_up" },
  TRACE_SPANS_DROPPED: { name: "koine_trace_spans_dropped_total" },
  SESSIONS_OPEN: { name: "koine_sessions_open" },
  SESSIONS_ENDED: { name: "koine_sessions_ended_total" },
  SESSIONS_FAILED: { name: "koine_sessions_failed_total" },
  HANDSHAKES_WAITING: { name: "koine_handshakes_waiting" },
  HANDSHAKES_REFUSED: { name: "koine_handshakes_refused_total" },
  RELAYED_MESSAGES: { name: "koine_relayed_messages_total" },
  RELAYED_BYTES: { name: "koine_relayed_bytes_total", unit: "bytes" },
  CALLERS_REFUSED: { name: "koine_callers_refused_total" },
};

/** The metrics, and ours again under their other names. Metrics that the user registered have the user's name only. */
export function withOpenNames<Family extends Named>(families: readonly Family[]): readonly Family[] {
  const again = families.flatMap((family): readonly Family[] => {
    const other = OPEN_NAMES[family.name];
    return other === undefined ? [] : [{ ...family, ...other }];
  });
  return [...families, ...again];
}
