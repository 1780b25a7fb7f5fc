import { type EndedMessage, watchEnds } from "../../src/internal.js";
import type { CaptureLog } from "../../src/public/inspect.js";

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
  readonly close: () => void;

  constructor(log: CaptureLog, changed: () => void) {
    this.close = watchEnds(log, (message) => {
      if (message.start.operation !== "send") return;
      this.#count(message);
      changed();
    });
  }

  get all(): readonly LinkCount[] {
    return [...this.#links.values()];
  }

  #count({ start, endedAt, status }: EndedMessage): void {
    const { direction, caller, agent, via, at } = start;
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
