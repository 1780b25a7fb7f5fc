import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cancel,
  ERRORS,
  type Handler,
  isPromise,
  type Layer,
  type Maybe,
  type Operation,
  type Reply,
} from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { linkedCancel } from "../linked-cancel.js";
import { noteFor, type PolicyContext } from "../notes.js";
import { DONE, stopIterator } from "../replies/iterators.js";
import { iteratorOf, onlyEvent, replyOf, wantsStream } from "../replies/shape.js";
import { isRetryable } from "../retry-safety.js";
import { type BackoffLimits, retryWaitMs } from "./backoff.js";
import { type RetryBudget, retryBudget } from "./budget.js";

/** Options of `retry`. */
export interface RetryOptions extends PolicyContext {
  /** The time source. */
  readonly clock: Clock;
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Attempts including the first. Default: 3. */
  readonly tries?: Maybe<number>;
  /** The first backoff; doubled with each attempt. Default: 100. */
  readonly firstWaitMs?: Maybe<number>;
  /** The longest backoff. Default: 5,000. */
  readonly longestWaitMs?: Maybe<number>;
  /** The retry budget, shared by everything that repeats calls to this destination. Default: a new one. */
  readonly budget?: Maybe<RetryBudget>;
  /** Whether the peer deduplicates sends by idempotency key. Called per call, because cards change. Default: false. */
  idempotentSend?(): boolean;
  /** Adds an idempotency key to messages without one, if the peer deduplicates by key. Default: false. */
  newKey?(): string;
}

const TRIES = 3;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/**
 * Retries a failed call: only if its code allows it, no event was delivered, and a repeat is safe (nothing was sent, the
 * operation is read-only, or the peer deduplicates by key). The backoff has full jitter, is at least `retryAfterMs`, never
 * exceeds the deadline, and ends when the caller cancels. If no retry is left, the error of the last attempt is thrown.
 */
export function retry(options: RetryOptions): Layer {
  const rules = rulesOf(options);
  return (next) =>
    function retried(operation, call) {
      rules.budget.called();
      const tries = new Tries(rules, next, withKey(rules, operation), call);
      const first = tries.first();
      return isPromise(first) && !wantsStream(operation) ? oneOf(tries, first) : new RetriedStream(tries, first);
    };
}

interface Rules extends BackoffLimits {
  readonly clock: Clock;
  readonly random: () => number;
  readonly tries: number;
  readonly budget: RetryBudget;
  readonly note: ReturnType<typeof noteFor>;
  readonly newKey: Maybe<() => string>;
  idempotentSend(): boolean;
}

function rulesOf(options: RetryOptions): Rules {
  const { clock, random, tries = TRIES, firstWaitMs = FIRST_WAIT_MS, longestWaitMs = LONGEST_WAIT_MS } = options;
  return {
    clock,
    random,
    tries,
    firstWaitMs,
    longestWaitMs,
    budget: options.budget ?? retryBudget({ clock }),
    note: noteFor(options),
    newKey: options.newKey?.bind(options),
    idempotentSend: () => options.idempotentSend?.() ?? false,
  };
}

function withKey({ newKey, tries, idempotentSend }: Rules, operation: Operation): Operation {
  if (newKey === undefined || tries < 2 || operation.kind !== "send") return operation;
  const { envelope } = operation;
  if (envelope.context.idempotencyKey !== undefined || !idempotentSend()) return operation;
  return { ...operation, envelope: { ...envelope, context: { ...envelope.context, idempotencyKey: newKey() } } };
}

/** The same message with the same id and key, and its number of earlier attempts. */
function repeated(operation: Operation, repeats: number): Operation {
  if (operation.kind !== "send") return operation;
  const { envelope } = operation;
  const retryCount = (envelope.meta.retryCount ?? 0) + repeats;
  return { ...operation, envelope: { ...envelope, meta: { ...envelope.meta, retryCount } } };
}

/** All attempts of one call. */
class Tries {
  readonly call: Call;
  readonly #rules: Rules;
  readonly #next: Handler;
  readonly #operation: Operation;
  #failures = 0;
  /** A code that may be retried once was retried. */
  #onceSpent = false;

  constructor(rules: Rules, next: Handler, operation: Operation, call: Call) {
    this.#rules = rules;
    this.#next = next;
    this.#operation = operation;
    this.call = call;
  }

  first(): Reply {
    return replyOf(this.#next, this.#operation, this.call);
  }

  /** Waits for the next attempt. Throws the given error if there is none, and the reason when `cancel` is cancelled. */
  async wait(thrown: unknown, cancel: Cancel): Promise<void> {
    const { clock, note } = this.#rules;
    const error = AgentError.from(thrown);
    this.#failures += 1;
    const waitMs = this.#waitMs(error);
    if (waitMs === undefined) throw thrown;
    this.#onceSpent ||= ERRORS[error.code].again === "once";
    note(this.#operation, this.call, { kind: "backoff", attempt: this.#failures, waitMs, error });
    await clock.sleep(waitMs, cancel);
    note(this.#operation, this.call, { kind: "retry", attempt: this.#failures, error });
  }

  /** Starts the next attempt when it is due. */
  again(): Reply {
    return replyOf(this.#next, repeated(this.#operation, this.#failures), this.call);
  }

  /** The budget is checked last: a call that is not retried for another reason costs nothing. */
  #waitMs(error: AgentError): Maybe<number> {
    const rules = this.#rules;
    const { cancel, deadline } = this.call;
    if (this.#failures >= rules.tries || cancel.cancelled) return undefined;
    if (this.#onceSpent && ERRORS[error.code].again === "once") return undefined;
    if (!isRetryable(this.#operation, error, rules.idempotentSend())) return undefined;
    const waitMs = retryWaitMs(this.#failures, error.facts.retryAfterMs, rules, rules.random);
    if (waitMs === undefined || (deadline !== undefined && rules.clock.now() + waitMs >= deadline)) return undefined;
    return rules.budget.spend() ? waitMs : undefined;
  }
}

async function oneOf(tries: Tries, first: Promise<AgentEvent>): Promise<AgentEvent> {
  for (let reply = first; ; ) {
    try {
      return await reply;
    } catch (thrown) {
      await tries.wait(thrown, tries.call.cancel);
      reply = onlyEvent(tries.again());
    }
  }
}

/** A stream that can be restarted until its first event was delivered. */
class RetriedStream implements AsyncIterableIterator<AgentEvent> {
  readonly #tries: Tries;
  #source: AsyncIterator<AgentEvent>;
  #first: Maybe<Promise<IteratorResult<AgentEvent>>>;
  #begun = false;
  #over = false;
  /** Ends the wait for the next attempt. */
  #stopWaiting: Maybe<(reason: AgentError) => void>;

  constructor(tries: Tries, first: Reply) {
    this.#tries = tries;
    this.#source = iteratorOf(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return DONE;
    if (this.#begun) return this.#source.next();
    if (this.#first === undefined) {
      this.#first = this.#begin();
      return this.#first;
    }
    await this.#first.catch(() => undefined); // reported to the reader of the first event
    return this.next();
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return DONE;
    this.#over = true;
    stopIterator(this.#source);
    this.#stopWaiting?.(new AgentError("cancelled", "the reader stopped before the first event"));
    return DONE;
  }

  async #begin(): Promise<IteratorResult<AgentEvent>> {
    for (;;) {
      try {
        const step = await this.#source.next();
        this.#begun = true;
        return this.#over ? DONE : step;
      } catch (thrown) {
        if (this.#over || !(await this.#waited(thrown))) return DONE;
        this.#source = iteratorOf(this.#tries.again());
      }
    }
  }

  /** False if the reader left in the meantime. */
  async #waited(thrown: unknown): Promise<boolean> {
    const { source, unlink } = linkedCancel(this.#tries.call.cancel);
    this.#stopWaiting = (reason) => source.cancel(reason);
    try {
      await this.#tries.wait(thrown, source);
      return !this.#over;
    } catch (stopped) {
      if (this.#over) return false;
      this.#over = true;
      throw stopped;
    } finally {
      unlink();
      this.#stopWaiting = undefined;
    }
  }
}
