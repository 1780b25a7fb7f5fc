import type { CapturedMessage, CaptureLog } from "../../src/public/inspect.js";

/** Latencies kept per link. */
const LATENCIES = 120;
/** Links beyond this limit are not counted. */
const LINKS = 500;

export interface LinkCount {
  readonly from: string;
  readonly to: string;
  protocol: string;
  messages: number;
  failures: number;
  /** Oldest first, in milliseconds. */
  readonly latencies: number[];
}

/** Counts completed messages per link, from callers and to upstreams. Task and card requests are not counted. */
export class LinkCounts {
  readonly #links = new Map<string, LinkCount>();
  /** A captured message is reported more than once while it is open; each counts once. */
  readonly #counted = new Set<string>();
  readonly #stop = new AbortController();

  constructor(log: CaptureLog, changed: () => void) {
    void this.#follow(log, changed);
  }

  get all(): readonly LinkCount[] {
    return [...this.#links.values()];
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(log: CaptureLog, changed: () => void): Promise<void> {
    try {
      for await (const message of log.follow({ ended: true }, 0, this.#stop.signal)) {
        if (message.operation !== "send") continue;
        this.#count(message);
        changed();
      }
    } catch {
      // Counting stops; the gateway is not affected.
    }
  }

  #count({ id, direction, caller, agent, via, at, endedAt, status }: CapturedMessage): void {
    if (this.#counted.has(id)) return;
    this.#counted.add(id);
    if (this.#counted.size > LINKS * 20) this.#counted.delete(this.#counted.values().next().value ?? "");
    const [from, to] = direction === "in" ? [`caller:${caller}`, agent] : ["gateway", agent];
    const key = JSON.stringify([from, to]);
    const link = this.#links.get(key) ?? { from, to, protocol: "", messages: 0, failures: 0, latencies: [] };
    if (!this.#links.has(key) && this.#links.size >= LINKS) return;
    this.#links.set(key, link);
    link.protocol = via.protocol;
    link.messages++;
    if (status === "failed") link.failures++;
    if (endedAt !== undefined) link.latencies.push(endedAt - at);
    if (link.latencies.length > LATENCIES) link.latencies.shift();
  }
}
