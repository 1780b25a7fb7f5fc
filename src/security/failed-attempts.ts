import { AgentError, type Maybe, RecentMap } from "../envelope/index.js";
import { networkOf } from "../transport/ip-address.js";

/** Failures count for this long. */
const WINDOW_MS = 60_000;
/** Networks tracked; an evicted one only starts again. */
const MAX_NETWORKS = 10_000;

interface Failures {
  untilMs: number;
  count: number;
}

/**
 * Counts failed attempts at a secret by network. Attempts above the limit get no answer but that there were too many. A correct one is
 * never refused: others on the same network, such as local users, could lock its owner out.
 */
export class FailedAttempts {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #networks = new RecentMap<Failures>(MAX_NETWORKS);

  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts a failure. `overloaded` if the network has too many. */
  add(remote: string): Maybe<AgentError> {
    const network = networkOf(remote);
    const nowMs = this.#now();
    const known = this.#networks.get(network);
    if (known === undefined || nowMs >= known.untilMs) {
      this.#networks.set(network, { untilMs: nowMs + WINDOW_MS, count: 1 });
      return undefined;
    }
    known.count++;
    if (known.count <= this.#limit) return undefined;
    const retryAfterMs = known.untilMs - nowMs;
    return new AgentError("overloaded", "too many failed attempts from this network; try again later", { retryAfterMs });
  }
}
