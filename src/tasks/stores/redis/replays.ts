import type { ReplayGuard, ReplayLimits } from "../../../envelope/index.js";
import { noReplayRoom, ReplayHints, replayEntry } from "../replay-entry.js";
import type { RedisConnection } from "./connection.js";
import { numberOf } from "./replies.js";

export interface RedisReplayParts {
  /** Entries by their end, and by signer. */
  readonly keys: readonly string[];
  readonly limits: ReplayLimits;
  now(): number;
}

const ADDED = 1;
const NO_ROOM = -1;

/** A guard that all processes share. Lifetimes are sent, not times: the clock of Redis may differ. */
export class RedisReplayGuard implements ReplayGuard {
  readonly #redis: RedisConnection;
  readonly #parts: RedisReplayParts;
  readonly #hints = new ReplayHints();

  constructor(redis: RedisConnection, parts: RedisReplayParts) {
    this.#redis = redis;
    this.#parts = parts;
  }

  seen(signer: string, nonce: string): boolean {
    return this.#hints.has(replayEntry(signer, nonce), this.#parts.now());
  }

  async add(signer: string, nonce: string, untilMs: number): Promise<boolean> {
    const { keys, limits, now } = this.#parts;
    const entry = replayEntry(signer, nonce);
    const keepMs = Math.max(0, Math.ceil(untilMs - now()));
    const { replayEntries, replayEntriesPerSigner } = limits;
    const values = [this.#redis.clock, entry.signer, entry.nonce, keepMs, replayEntries, replayEntriesPerSigner];
    const answer = numberOf(await this.#redis.run("addReplay", keys, values));
    if (answer === NO_ROOM) throw noReplayRoom();
    this.#hints.add(entry, untilMs);
    return answer === ADDED;
  }
}
