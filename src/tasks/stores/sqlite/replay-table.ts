import type { ReplayGuard, ReplayLimits } from "../../../envelope/index.js";
import {
  noReplayRoom,
  REPLAYS_CLEARED_AT_ONCE,
  REPLAYS_CLEARED_WHEN_FULL,
  type ReplayEntry,
  ReplayHints,
  replayEntry,
} from "../replay-entry.js";
import type { CommitQueue } from "./commit-queue.js";
import type { Connection, Statement } from "./library.js";
import type { Totals } from "./totals.js";

/** Nonces of signed messages. Every method is one step of a transaction. */
class ReplayTable {
  readonly #totals: Totals;
  readonly #limits: ReplayLimits;
  readonly #until: Statement<readonly [number]>;
  readonly #insert: Statement<readonly []>;
  readonly #delete: Statement<readonly []>;
  readonly #ended: Statement<readonly [signer: string, nonce: string]>;
  readonly #count: Statement<readonly []>;
  readonly #kept: Statement<readonly [number]>;
  readonly #forgetSigner: Statement<readonly []>;

  constructor(connection: Connection, totals: Totals, limits: ReplayLimits) {
    this.#totals = totals;
    this.#limits = limits;
    this.#until = connection.prepare("SELECT until FROM replays WHERE signer = ? AND nonce = ?");
    this.#insert = connection.prepare("INSERT INTO replays (signer, nonce, until) VALUES (?, ?, ?)");
    this.#delete = connection.prepare("DELETE FROM replays WHERE signer = ? AND nonce = ?");
    this.#ended = connection.prepare("SELECT signer, nonce FROM replays WHERE until < ? ORDER BY until LIMIT ?");
    this.#count = connection.prepare(
      "INSERT INTO replay_signers (signer, kept) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET kept = kept + ?2",
    );
    this.#kept = connection.prepare("SELECT kept FROM replay_signers WHERE signer = ?");
    this.#forgetSigner = connection.prepare("DELETE FROM replay_signers WHERE signer = ? AND kept <= 0");
  }

  add({ signer, nonce }: ReplayEntry, untilMs: number, nowMs: number): boolean {
    this.#clear(nowMs, REPLAYS_CLEARED_AT_ONCE);
    const [until] = this.#until.get([signer, nonce]) ?? [];
    if (until !== undefined && until >= nowMs) return false;
    if (until !== undefined) this.#forget(signer, nonce);
    while (this.#isFull(signer)) if (this.#clear(nowMs, REPLAYS_CLEARED_WHEN_FULL) === 0) throw noReplayRoom();
    this.#insert.run([signer, nonce, Math.ceil(untilMs)]);
    this.#count.run([signer, 1]);
    this.#totals.add({ replays: 1 });
    return true;
  }

  #isFull(signer: string): boolean {
    const [kept] = this.#kept.get([signer]) ?? [0];
    return this.#totals.replays >= this.#limits.replayEntries || kept >= this.#limits.replayEntriesPerSigner;
  }

  #clear(nowMs: number, limit: number): number {
    const ended = this.#ended.intact([nowMs, limit]);
    for (const [signer, nonce] of ended) this.#forget(signer, nonce);
    return ended.length;
  }

  #forget(signer: string, nonce: string): void {
    this.#delete.run([signer, nonce]);
    this.#count.run([signer, -1]);
    this.#forgetSigner.run([signer]);
    this.#totals.add({ replays: -1 });
  }
}

export interface SqliteReplayParts {
  readonly totals: Totals;
  readonly queue: CommitQueue;
  readonly limits: ReplayLimits;
  now(): number;
}

/** The table as a guard of all processes that use the file. */
export class SqliteReplayGuard implements ReplayGuard {
  readonly #table: ReplayTable;
  readonly #queue: CommitQueue;
  readonly #hints = new ReplayHints();
  readonly #now: () => number;

  constructor(connection: Connection, { totals, queue, limits, now }: SqliteReplayParts) {
    this.#table = new ReplayTable(connection, totals, limits);
    this.#queue = queue;
    this.#now = now;
  }

  seen(signer: string, nonce: string): boolean {
    return this.#hints.has(replayEntry(signer, nonce), this.#now());
  }

  async add(signer: string, nonce: string, untilMs: number): Promise<boolean> {
    const entry = replayEntry(signer, nonce);
    const added = await this.#queue.do("write", () => this.#table.add(entry, untilMs, this.#now()));
    this.#hints.add(entry, untilMs);
    return added;
  }
}
