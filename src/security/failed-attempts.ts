import { AgentError, RecentMap } from "../envelope/index.js";
import { networkOf } from "./address.js";

/** Failures count for this long. */
const WINDOW_MS = 60_000;
/** Networks tracked; an evicted one only starts again. */
const MAX_NETWORKS = 10_000;

interface Failures {
  untilMs: number;
  count: number;
}

/** Counts failed attempts at a secret by network. Above the limit attempts are refused without comparing, also correct ones. */
export class FailedAttempts {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #networks = new RecentMap<Failures>(MAX_NETWORKS);

  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Throws `overloaded` while the network has too many failures. */
  check(remote: string): void {
    const failures = this.#networks.get(networkOf(remote));
    const leftMs = (failures?.untilMs ?? 0) - this.#now();
    if (failures === undefined || leftMs <= 0 || failures.count < this.#limit) return;
    throw new AgentError("overloaded", "too many failed attempts from this network; try again later", { retryAfterMs: leftMs });
  }

  add(remote: string): void {
    const network = networkOf(remote);
    const known = this.#networks.get(network);
    const nowMs = this.#now();
    if (known !== undefined && nowMs < known.untilMs) known.count++;
    else this.#networks.set(network, { untilMs: nowMs + WINDOW_MS, count: 1 });
  }
}
