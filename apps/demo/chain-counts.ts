import type { CapturedMessage, CaptureLog } from "../../src/public/inspect.js";
import type { NetworkLink } from "../../src/public/network.js";

/** Limits: latencies per caller, and remembered message ids. */
const LATENCIES = 120;
const REMEMBERED = 1_000;

/** Calls of one agent to others through the gateway. */
export interface ChainCount {
  readonly from: string;
  protocol: string;
  messages: number;
  failures: number;
  /** Oldest first, in milliseconds. */
  readonly latencies: number[];
}

/** Counts calls between agents through the gateway: calls in whose trace the gateway has called the source agent before. */
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
      for await (const message of this.#log.follow({ direction: "in" }, 0, this.#stop.signal))
        if (message.status !== "open" && message.operation === "send") this.#add(message);
    } catch {
      // Counting stops; the demo is not affected.
    }
  }

  #add(message: CapturedMessage): void {
    const { id, agent, traceId } = message;
    if (this.#counted.has(id)) return;
    const link = this.#links.find(({ src, dst }) => dst === agent && this.#wasCalled(src, traceId));
    if (link === undefined) return;
    this.#counted.add(id);
    if (this.#counted.size > REMEMBERED) this.#counted.delete(this.#counted.values().next().value ?? "");
    this.#count(link.src, message);
  }

  #wasCalled(agent: string, traceId: string): boolean {
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
