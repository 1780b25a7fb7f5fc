import type { CapturedMessage, CaptureLog } from "../../src/public/inspect.js";
import type { NetworkLink } from "../../src/public/network.js";

/** How many times of each caller are kept, and how many sightings are remembered as counted. */
const LATENCIES = 120;
const REMEMBERED = 1_000;

/** An agent that calls others through the gateway. */
export interface ChainCount {
  readonly from: string;
  protocol: string;
  messages: number;
  failures: number;
  /** Oldest first, in milliseconds. */
  readonly latencies: number[];
}

/** Counts what agents ask each other through the gateway: a call in whose trace the gateway has called the asking agent before. */
export class ChainCounts {
  readonly #log: CaptureLog;
  readonly #links: readonly NetworkLink[];
  readonly #counts = new Map<string, ChainCount>();
  readonly #counted = new Set<string>();
  readonly #stop = new AbortController();

  constructor(log: CaptureLog, links: readonly NetworkLink[]) {
    this.#log = log;
    this.#links = links;
    void this.#follow();
  }

  get all(): readonly ChainCount[] {
    return [...this.#counts.values()];
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    try {
      for await (const sighting of this.#log.follow({ direction: "in" }, 0, this.#stop.signal))
        if (sighting.status !== "open" && sighting.operation === "send") this.#see(sighting);
    } catch {
      // Nobody counts any more; the demo goes on.
    }
  }

  #see(sighting: CapturedMessage): void {
    const { id, agent, traceId } = sighting;
    if (this.#counted.has(id)) return;
    const link = this.#links.find(({ src, dst }) => dst === agent && this.#wasAsked(src, traceId));
    if (link === undefined) return;
    this.#counted.add(id);
    if (this.#counted.size > REMEMBERED) this.#counted.delete(this.#counted.values().next().value ?? "");
    this.#count(link.src, sighting);
  }

  #wasAsked(agent: string, traceId: string): boolean {
    return this.#log.trace(traceId).some((each) => each.direction === "out" && each.agent === agent);
  }

  #count(from: string, { via, status, at, endedAt = at }: CapturedMessage): void {
    const count = this.#counts.get(from) ?? { from, protocol: via.protocol, messages: 0, failures: 0, latencies: [] };
    this.#counts.set(from, count);
    count.messages++;
    if (status === "failed") count.failures++;
    count.latencies.push(endedAt - at);
    if (count.latencies.length > LATENCIES) count.latencies.shift();
  }
}
