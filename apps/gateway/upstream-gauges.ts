import type { Maybe } from "../../src/index.js";
import type { CircuitState } from "../../src/public/policies.js";
import type { Metrics } from "../../src/public/telemetry.js";
import { GATEWAY, type UpstreamMonitor } from "./upstream-monitor.js";

/** The protocol of an upstream that was never reached. */
const UNKNOWN_PROTOCOL = "other";

const CIRCUIT_FIGURES = { closed: 0, "half-open": 1, open: 2 } as const satisfies Record<CircuitState, number>;

interface Edge {
  readonly srcAgent: string;
  readonly dstId: string;
  readonly protocol: string;
}

/** The state of upstreams as metrics: there from the start, whether or not anything was called yet, and gone with the upstream. */
export class UpstreamGauges {
  readonly #metrics: Maybe<Metrics>;
  #shown = new Map<string, Edge>();

  constructor(metrics: Maybe<Metrics>) {
    this.#metrics = metrics;
  }

  report(upstreams: readonly UpstreamMonitor[]): void {
    if (this.#metrics === undefined) return;
    const up = this.#metrics.gauge("UPSTREAM_UP", "1 if the upstream can be called, 0 if not");
    const circuits = this.#metrics.gauge("CIRCUIT_STATE", "0 closed, 1 half-open, 2 open");
    const queues = this.#metrics.gauge("QUEUE_DEPTH", "Calls that wait in queues");
    const retries = this.#metrics.counter("REQUEST_RETRIES", "Attempts after the first");
    const shown = new Map(upstreams.map((upstream) => [upstream.id, edgeOf(upstream)]));
    for (const [id, edge] of this.#shown) {
      if (shown.get(id)?.protocol === edge.protocol) continue;
      for (const family of [up, circuits, queues]) family.remove(edge);
    }
    this.#shown = shown;
    for (const upstream of upstreams) {
      const edge = edgeOf(upstream);
      up.edge(edge).set(upstream.health === "up" ? 1 : 0);
      if (upstream.remote === undefined) continue;
      const circuit = upstream.policies.breaker?.state();
      if (circuit !== undefined) circuits.edge(edge).set(CIRCUIT_FIGURES[circuit.state]);
      queues.edge(edge).add(0);
      retries.edge(edge).add(0);
    }
  }
}

function edgeOf({ id, remote }: UpstreamMonitor): Edge {
  return { srcAgent: GATEWAY, dstId: id, protocol: remote?.protocol ?? UNKNOWN_PROTOCOL };
}
