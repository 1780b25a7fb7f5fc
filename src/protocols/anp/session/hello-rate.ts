import { RecentMap } from "../../../envelope/index.js";
import { networkOf } from "../../../transport/ip-address.js";
import { handshakeError } from "./handshake-error.js";
import { SESSION_LIMITS } from "./profile.js";

/** Failures count for this long. */
const WINDOW_MS = 60_000;
/** Networks tracked; an evicted one only starts again. */
const MAX_NETWORKS = 10_000;

interface Failures {
  readonly untilMs: number;
  count: number;
}

/** Counts handshakes that failed, by network. Above the limit hellos are refused before they are read: they cost nothing then. */
export class HelloRate {
  readonly #now: () => number;
  readonly #networks = new RecentMap<Failures>(MAX_NETWORKS);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws while the network has too many failures. */
  check(remote: string): void {
    const failures = this.#networks.get(networkOf(remote));
    if (failures === undefined || failures.untilMs <= this.#now() || failures.count < SESSION_LIMITS.failedHellos) return;
    throw handshakeError("too_many_hellos", "too many handshakes from this network failed; try again in a minute");
  }

  failed(remote: string): void {
    const network = networkOf(remote);
    const known = this.#networks.get(network);
    const nowMs = this.#now();
    if (known !== undefined && nowMs < known.untilMs) known.count++;
    else this.#networks.set(network, { untilMs: nowMs + WINDOW_MS, count: 1 });
  }
}
