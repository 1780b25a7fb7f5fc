import type { PushConfig } from "../envelope/index.js";
import type { TaskLimits } from "./limits.js";
import type { PushOutcome, PushPort } from "./push-port.js";
import type { DuePush, Entry, LeaseRequest, PushProgress, Store } from "./store.js";
import type { Timers } from "./timers.js";

/** What a teller works with. */
export interface PushDispatcherParts {
  readonly port: PushPort;
  readonly store: Store;
  readonly timers: Timers;
  readonly limits: TaskLimits;
  readonly holder: string;
  now(): number;
  /** From 0 to 1: spreads the tries of webhooks that failed together. */
  random(): number;
}

const MAX_PROBLEM_CHARS = 200;
/** A look for a later try comes this much after it is due: one that is early by a moment finds nothing. */
const LOOK_AFTER_MS = 5;
const NOT_KEPT = "entries are no longer kept";
const SHUTTING_DOWN: PushOutcome = Object.freeze({ accepted: false, problem: "this process is shutting down" });

/**
 * Tells webhooks what happened. The journal is the queue and each webhook is a cursor in it, kept by the store: a teller
 * remembers nothing that another process would miss. Entries of one webhook go out in order, one at a time; webhooks do
 * not wait for each other.
 */
export class PushDispatcher {
  readonly #parts: PushDispatcherParts;
  readonly #lease: LeaseRequest;
  readonly #stopLooking: () => void;
  /** Ends the requests under way, one function each. */
  readonly #cuts = new Set<(sent: PushOutcome) => void>();
  #telling = 0;
  #wanted = false;
  #looking = false;
  #closing = false;
  #retry: { readonly at: number; off(): void } | undefined;
  #idle: (() => void) | undefined;

  constructor(parts: PushDispatcherParts) {
    this.#parts = parts;
    const { timers, limits, holder } = parts;
    // Longer than one try can take, so that nobody else begins the same one meanwhile.
    this.#lease = { holder, leaseMs: limits.pushTimeoutMs + limits.leaseMs };
    // Finds what was due when nobody nudged: later tries, and what a process that is gone has left.
    this.#stopLooking = timers.every(limits.lookAgainMs, () => this.nudge());
  }

  /** Throws for a webhook that would never be told. */
  async allows(config: PushConfig): Promise<void> {
    await this.#parts.port.allows?.(config);
  }

  /** Some webhook may have something to be told. Costs nothing when said often: all of one turn are one look. */
  nudge(): void {
    if (this.#wanted || this.#closing) return;
    this.#wanted = true;
    if (!this.#looking) this.#parts.timers.nextTurn(() => void this.#look());
  }

  /** Takes nothing new; a request under way may end within `drainMs`. What was not told is still due in the store. */
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
        const room = limits.pushesAtOnce - this.#telling;
        // Whoever ends first looks again.
        if (room <= 0) return;
        this.#wanted = false;
        const due = await store.duePushes(this.#lease, room);
        if (due.length === room) this.#wanted = true;
        for (const each of due) void this.#tell(each);
      }
    } catch {
      // A store that is away is asked again by the timer.
      this.#wanted = false;
    } finally {
      this.#looking = false;
      if (this.#isIdle()) this.#idle?.();
    }
  }

  #isIdle(): boolean {
    return this.#telling === 0 && !this.#looking;
  }

  async #tell(due: DuePush): Promise<void> {
    this.#telling += 1;
    try {
      await this.#tellAll(due);
    } catch {
      // The store is away. The lease runs out, and whoever is there then goes on from the cursor.
    } finally {
      this.#telling -= 1;
      if (this.#isIdle()) this.#idle?.();
      // There is room for one more, and an entry that came while this one was let go has nudged too early.
      this.#wanted = false;
      this.nudge();
    }
  }

  async #tellAll(due: DuePush): Promise<void> {
    const { store, limits } = this.#parts;
    const { config, owner } = due;
    let { seq, failures } = config.delivery ?? { seq: 0, failures: 0 };
    for (;;) {
      const page = await store.read(config.taskId, owner, seq, limits.entriesPerRead);
      if (page === undefined || seq + 1 < page.firstKept) {
        await store.told(due, { outcome: "gave_up", problem: NOT_KEPT });
        return;
      }
      for (const entry of page.entries) {
        const sent = this.#closing ? SHUTTING_DOWN : await this.#send(due, entry);
        const told = this.#outcome(sent, entry, failures);
        const stillOurs = await store.told(due, told);
        if (told.outcome === "failed") this.#lookIn(told.retryInMs + LOOK_AFTER_MS);
        if (!stillOurs || told.outcome !== "accepted") return;
        seq = entry.seq;
        failures = 0;
      }
      if (page.entries.length === 0) {
        await store.told(due, { outcome: "idle" });
        return;
      }
    }
  }

  #outcome(sent: PushOutcome, { seq }: Entry, failures: number): PushProgress {
    if (sent.accepted) return { outcome: "accepted", seq, leaseMs: this.#lease.leaseMs };
    // Cut by our own end: not the webhook's fault, and the next process may go on at once.
    if (sent === SHUTTING_DOWN) return { outcome: "idle" };
    const problem = sent.problem.slice(0, MAX_PROBLEM_CHARS);
    const { pushTries, pushRetryMs, pushRetryMaxMs } = this.#parts.limits;
    if (sent.final === true || failures + 1 >= pushTries) return { outcome: "gave_up", problem };
    const backoffMs = Math.min(pushRetryMs * 2 ** failures, pushRetryMaxMs) * (0.5 + this.#parts.random() / 2);
    const retryInMs = Math.ceil(Math.max(backoffMs, Math.min(sent.retryAfterMs ?? 0, pushRetryMaxMs)));
    return { outcome: "failed", retryInMs, problem };
  }

  /** One timer for all later tries: the earliest. The others are found by the regular look. */
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

  /** Settles in time whether the port does or not, and never rejects. */
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
      const attempted = async () => port.send({ config, seq, event, task }, attempt.signal);
      attempted().then(end, () => end({ accepted: false, problem: "the notification could not be made" }));
    });
  }
}
