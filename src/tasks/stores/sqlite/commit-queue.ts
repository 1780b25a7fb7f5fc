import { AgentError } from "../../../envelope/index.js";
import { closedFailure, isBusy, storeFailure } from "./failures.js";
import type { Connection } from "./library.js";

/** Calls that share one transaction; the rest wait for the next one. */
const CALLS_PER_COMMIT = 128;
/** Most queued calls while another process holds the file. */
const CALLS_WAITING = 10_000;
/** Delay between two attempts to lock the file. */
const TRY_AGAIN_MS = 5;
/** After this many attempts the calls are rejected: about five seconds. */
const LOCK_TRIES = 500;

/** A read sees one snapshot; a write also locks out other writers. */
type Mode = "read" | "write";

interface Call {
  readonly mode: Mode;
  readonly step: () => unknown;
  resolve(value: unknown): void;
  reject(reason: AgentError): void;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly refusal: AgentError };

/** Callbacks around a transaction. */
export interface Around {
  begin(): void;
  /** Last writes before the commit. */
  end(): void;
  /** Called after the commit; listeners are notified only now. Must not throw, because nothing can be undone. */
  committed(): void;
}

/**
 * Calls of a turn of the event loop, or of two, in one transaction. Each is answered after the commit. A step looks before it
 * writes, so a refusal (an AgentError) leaves nothing behind. Should one fail in any other way, all is undone, and each is
 * done again by itself: the failure stays with the call it belongs to.
 */
export class CommitQueue {
  readonly #connection: Connection;
  readonly #around: Around;
  readonly #file: string;
  #waiting: Call[] = [];
  #scheduled = false;
  #tries = 0;
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(connection: Connection, around: Around, file: string) {
    this.#connection = connection;
    this.#around = around;
    this.#file = file;
  }

  do<T>(mode: Mode, step: () => T): Promise<T> {
    if (this.#closed) return Promise.reject(closedFailure(this.#file));
    if (this.#waiting.length >= CALLS_WAITING) {
      return Promise.reject(new AgentError("overloaded", `too many calls wait for the task store ${this.#file}`));
    }
    return new Promise<T>((resolve, reject) => {
      // The value is the one this step returned.
      this.#waiting.push({ mode, step, resolve: (value) => resolve(value as T), reject });
      this.#schedule();
    });
  }

  /** Rejects new calls; resolves when the queued ones are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#gather);
  }

  /** Where several calls wait, others are about to come: one more turn, and a transaction has twice as many of them. */
  readonly #gather = (): void => {
    if (this.#waiting.length > 1 && this.#waiting.length < CALLS_PER_COMMIT) setImmediate(this.#flush);
    else this.#flush();
  };

  readonly #flush = (): void => {
    this.#scheduled = false;
    const calls = this.#waiting.slice(0, CALLS_PER_COMMIT);
    const outcomes = this.#attempt(calls);
    if (outcomes === "busy" && this.#tries < LOCK_TRIES) {
      this.#tries += 1;
      this.#scheduled = true;
      setTimeout(this.#flush, TRY_AGAIN_MS);
      return;
    }
    this.#tries = 0;
    this.#waiting = this.#waiting.slice(calls.length);
    if (this.#waiting.length > 0) this.#schedule();
    if (outcomes === "busy") this.#refuse(calls);
    else answer(calls, outcomes);
    if (this.#waiting.length === 0) this.#idle?.();
  };

  #refuse(calls: readonly Call[]): void {
    for (const { reject } of calls) reject(storeFailure({ code: "SQLITE_BUSY" }, this.#file));
  }

  #attempt(calls: readonly Call[]): readonly Outcome[] | "busy" {
    try {
      return this.#transact(calls);
    } catch (thrown) {
      if (isBusy(thrown)) return "busy";
      if (calls.length === 1) return [this.#refused(thrown)];
      return calls.map((call) => this.#alone(call));
    }
  }

  #alone(call: Call): Outcome {
    try {
      return this.#transact([call])[0] ?? this.#refused(undefined);
    } catch (thrown) {
      return this.#refused(thrown);
    }
  }

  #transact(calls: readonly Call[]): readonly Outcome[] {
    const outcomes = this.#commit(calls);
    this.#around.committed();
    return outcomes;
  }

  #commit(calls: readonly Call[]): readonly Outcome[] {
    // Not a prepared statement: one that could not get the lock would stay open, and keep the file as it was for all reads.
    this.#connection.exec(calls.some(({ mode }) => mode === "write") ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      this.#around.begin();
      const outcomes = calls.map(outcomeOf);
      this.#around.end();
      this.#connection.exec("COMMIT");
      return outcomes;
    } catch (thrown) {
      this.#undo();
      throw thrown;
    }
  }

  #undo(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.exec("ROLLBACK");
    } catch {
      // The error that broke the transaction is reported; the next transaction fails by itself if it cannot start.
    }
  }

  #refused(thrown: unknown): Outcome {
    return { ok: false, refusal: storeFailure(thrown, this.#file) };
  }
}

function outcomeOf({ step }: Call): Outcome {
  try {
    return { ok: true, value: step() };
  } catch (thrown) {
    if (thrown instanceof AgentError) return { ok: false, refusal: thrown };
    throw thrown;
  }
}

function answer(calls: readonly Call[], outcomes: readonly Outcome[]): void {
  for (const [index, call] of calls.entries()) {
    const outcome = outcomes[index];
    if (outcome?.ok === true) call.resolve(outcome.value);
    else if (outcome !== undefined) call.reject(outcome.refusal);
  }
}
