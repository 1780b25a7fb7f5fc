import type { PushConfig } from "../envelope/index.js";
import type { TaskLimits } from "./limits.js";
import type { PushOutcome, PushPort } from "./push-port.js";
import { PushTurns } from "./push-turns.js";
import type { DuePush, Entry, LeaseRequest, PushProgress, Store } from "./store.js";
import type { Timers } from "./timers.js";

/** Dependencies of a push dispatcher. */
export interface PushDispatcherParts {
  readonly port: PushPort;
  readonly store: Store;
  readonly timers: Timers;
  readonly limits: TaskLimits;
  readonly holder: string;
  now(): number;
  /** From 0 to 1: jitter for webhooks that failed together. */
  random(): number;
}

const MAX_PROBLEM_CHARS = 200;
/** Added to retry timers: a timer that fires slightly early would find nothing due. */
const LOOK_AFTER_MS = 5;
const NOT_KEPT = "entries are no longer kept";
const SHUTTING_DOWN: PushOutcome = Object.freeze({ accepted: false, problem: "this process is shutting down" });

/**
 * Sends push notifications. The journal is the queue and each webhook is a cursor in it, stored by the store: a dispatcher
 * holds no state that another process needs. Entries of one webhook go out in order, one at a time; webhooks of
 * different callers do not wait for each other.
 */
export class PushDispatcher {
  readonly #parts: PushDispatcherParts;
  readonly #lease: LeaseRequest;
  readonly #stopLooking: () => void;
  readonly #turns: PushTurns;
  /** Aborts the pending requests, one function each. */
  readonly #cuts = new Set<(sent: PushOutcome) => void>();
  #active = 0;
  #wanted = false;
  #looking = false;
  #closing = false;
  #retry: { readonly at: number; off(): void } | undefined;
  #idle: (() => void) | undefined;

  constructor(parts: PushDispatcherParts) {
    this.#parts = parts;
    const { timers, limits, holder } = parts;
    this.#turns = new PushTurns(limits, parts.now);
    // Longer than one attempt can take, so that no other process starts the same one.
    this.#lease = { holder, leaseMs: limits.pushTimeoutMs + limits.leaseMs };
    // Finds entries that became due without a nudge: retries, and entries of a process that stopped.
    this.#stopLooking = timers.every(limits.lookAgainMs, () => this.nudge());
  }

  /** Throws if notifications to this webhook would never be allowed. */
  async allows(config: PushConfig, owner: string): Promise<void> {
    await this.#parts.port.allows?.(config, owner);
  }

  /** Some webhook may have pending entries. Cheap to call often: all calls of one event loop turn cause one look. */
  nudge(): void {
    if (this.#wanted || this.#closing) return;
    this.#wanted = true;
    if (!this.#looking) this.#parts.timers.nextTurn(() => void this.#look());
  }

  /** Starts no new requests; pending ones may finish within `drainMs`. Undelivered entries stay due in the store. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true;
    this.#stopLooking();
    this.#retry?.off();
    if (this.#isIdle()) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const off = this.#parts.timers.after(drainMs, () => {
      for (const cut of [...this.#cuts]) cut(SHUTTING_DOWN);
    });
    await idle;
    off();
  }

  async #look(): Promise<void> {
    const { store, limits } = this.#parts;
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#wanted && !this.#closing) {
        const room = limits.pushesAtOnce - this.#active;
        // The next delivery that ends looks again.
        if (room <= 0) return;
        this.#wanted = false;
        const due = await store.duePushes(this.#lease, room);
        if (due.length === room) this.#wanted = true;
        for (const each of due) if (this.#turns.begin(each)) void this.#deliver(each);
      }
    } catch {
      // The timer retries an unavailable store.
      this.#wanted = false;
    } finally {
      this.#looking = false;
      if (this.#isIdle()) this.#idle?.();
    }
  }

  #isIdle(): boolean {
    return this.#active === 0 && !this.#looking;
  }

  async #deliver(due: DuePush): Promise<void> {
    this.#active += 1;
    try {
      await this.#deliverAll(due);
    } catch {
      // The store is unavailable. After the lease expires, any process continues from the cursor.
    } finally {
      const next = this.#turns.end(due);
      if (next !== undefined) void this.#deliver(next);
      this.#active -= 1;
      if (this.#isIdle()) this.#idle?.();
      // A slot is free, and an entry added while this webhook was released nudged too early.
      this.#wanted = false;
      this.nudge();
    }
  }

  async #deliverAll(due: DuePush): Promise<void> {
    const { store, limits } = this.#parts;
    const { config, owner } = due;
    let { seq, failures } = config.delivery ?? { seq: 0, failures: 0 };
    for (;;) {
      const page = await store.read(config.taskId, owner, seq, limits.entriesPerRead);
      if (page === undefined || seq + 1 < page.firstKept) {
        await store.recordPush(due, { outcome: "gave_up", problem: NOT_KEPT });
        return;
      }
      for (const entry of page.entries) {
        const sent = this.#closing ? SHUTTING_DOWN : await this.#send(due, entry);
        const progress = this.#outcome(sent, entry, failures);
        const stillOurs = await store.recordPush(due, progress);
        if (progress.outcome === "failed") this.#lookIn(progress.retryInMs + LOOK_AFTER_MS);
        if (!stillOurs || progress.outcome !== "accepted") return;
        seq = entry.seq;
        failures = 0;
      }
      if (page.entries.length === 0) {
        await store.recordPush(due, { outcome: "idle" });
        return;
      }
    }
  }

  #outcome(sent: PushOutcome, { seq }: Entry, failures: number): PushProgress {
    if (sent.accepted) return { outcome: "accepted", seq, leaseMs: this.#lease.leaseMs };
    // Aborted by our shutdown: not a failure of the webhook, and the next process may continue at once.
    if (sent === SHUTTING_DOWN) return { outcome: "idle" };
    const problem = sent.problem.slice(0, MAX_PROBLEM_CHARS);
    const { pushTries, pushRetryMs, pushRetryMaxMs } = this.#parts.limits;
    if (sent.final === true || failures + 1 >= pushTries) return { outcome: "gave_up", problem };
    const backoffMs = Math.min(pushRetryMs * 2 ** failures, pushRetryMaxMs) * (0.5 + this.#parts.random() / 2);
    const retryInMs = Math.ceil(Math.max(backoffMs, Math.min(sent.retryAfterMs ?? 0, pushRetryMaxMs)));
    return { outcome: "failed", retryInMs, problem };
  }

  /** One timer, for the earliest retry. The regular look finds the others. */
  #lookIn(ms: number): void {
    const at = this.#parts.now() + ms;
    if (this.#closing || (this.#retry !== undefined && this.#retry.at <= at)) return;
    this.#retry?.off();
    const off = this.#parts.timers.after(ms, () => {
      this.#retry = undefined;
      this.nudge();
    });
    this.#retry = { at, off };
  }

  /** Settles within `pushTimeoutMs` even if the port does not, and never rejects. */
  #send({ config, owner }: DuePush, { seq, event }: Entry): Promise<PushOutcome> {
    const { port, store, timers, limits } = this.#parts;
    return new Promise((resolve) => {
      const attempt = new AbortController();
      const end = (sent: PushOutcome): void => {
        off();
        this.#cuts.delete(cut);
        resolve(sent);
      };
      const cut = (sent: PushOutcome): void => {
        end(sent);
        attempt.abort();
      };
      const off = timers.after(limits.pushTimeoutMs, () => {
        cut({ accepted: false, problem: `no answer within ${limits.pushTimeoutMs} ms` });
      });
      this.#cuts.add(cut);
      const task = async () => (await store.snapshot(config.taskId, owner, seq))?.task;
      const attempted = async () => port.send({ config, owner, seq, event, task }, attempt.signal);
      attempted().then(end, () => end({ accepted: false, problem: "the notification could not be made" }));
    });
  }
}
