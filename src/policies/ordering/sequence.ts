import { AgentError, type Maybe, type Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { cannotWait, overloadedError } from "../queue-errors.js";
import { QueuedSend } from "./queued-send.js";
import { type Send, type StartOutcome, startSend } from "./start-send.js";

export interface SequenceOptions {
  readonly clock: Clock;
  readonly buffer: number;
  readonly waitMs: number;
  /** The queue length changed. */
  changed(by: 1 | -1, held: QueuedSend): void;
  /** Messages `first` to `last` did not arrive in time; `held` is sent next. */
  gap(first: number, last: number, held: QueuedSend): void;
  /** Nothing is in flight or queued. */
  idle(): void;
}

/** One sequence at its receiver: messages start in order of their numbers, whatever order they arrive in. */
export class Sequence {
  readonly #options: SequenceOptions;
  /** The next number. */
  #next = 1;
  /** The message in flight, until it is accepted. */
  #current: Maybe<Send>;
  /** The previous number, if it failed and no later message has started: it may be sent again. */
  #reopened: Maybe<number>;
  readonly #waiting = new Map<number, QueuedSend>();
  /** The last accepted numbers, with the idempotency keys of their messages. */
  readonly #taken = new Map<number, Maybe<string>>();
  #cancelTimer: Maybe<() => void>;

  constructor(options: SequenceOptions) {
    this.#options = options;
  }

  enter(number: number, send: Send): Reply {
    const reply = this.#admit(number, send);
    this.#restIfIdle();
    return reply;
  }

  #admit(number: number, send: Send): Reply {
    if (this.#current === undefined && (number === this.#next || number === this.#reopened)) return this.#beginNow(number, send);
    if (number < this.#next) return this.#again(number, send);
    const { clock, buffer } = this.#options;
    const twin = number === this.#next ? this.#current : this.#waiting.get(number)?.send;
    const problem = twin === undefined ? cannotWait(send.call, clock) : repeated(number, keyOf(twin), keyOf(send));
    if (problem !== undefined) return Promise.reject(problem);
    if (this.#waiting.size >= buffer)
      return Promise.reject(overloadedError(`at most ${buffer} messages wait for the ones before them`));
    return this.#wait(number, send);
  }

  #beginNow(number: number, send: Send): Reply {
    this.#take(number, send);
    return startSend(send, (how) => this.#started(number, how));
  }

  #take(number: number, send: Send): void {
    this.#stopWaiting();
    this.#current = send;
    this.#next = number;
    this.#reopened = undefined;
  }

  #started(number: number, how: StartOutcome): void {
    const key = this.#current === undefined ? undefined : keyOf(this.#current);
    this.#current = undefined;
    this.#next = number + 1;
    if (how === "accepted" || how === "left") this.#remember(number, key);
    else this.#reopened = number;
    this.#goOn();
  }

  #remember(number: number, key: Maybe<string>): void {
    this.#taken.set(number, key);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > this.#options.buffer && oldest !== undefined) this.#taken.delete(oldest);
  }

  /** A number that has passed: a repeat, or a late message. */
  #again(number: number, send: Send): Reply {
    if (!this.#taken.has(number))
      return Promise.reject(new AgentError("expired", `message ${number} arrived after it had been skipped`));
    const key = keyOf(send);
    // A peer that honours the key returns the earlier answer.
    if (key !== undefined && key === this.#taken.get(number)) return send.next(send.operation, send.call);
    return Promise.reject(repeat(number));
  }

  #wait(number: number, send: Send): Reply {
    const held = new QueuedSend(send, this.#options.clock, () => {
      this.#waiting.delete(number);
      this.#options.changed(-1, held);
      if (this.#waiting.size === 0) this.#stopWaiting();
      this.#restIfIdle();
    });
    this.#waiting.set(number, held);
    this.#options.changed(1, held);
    this.#waitForMissing();
    return held.reply;
  }

  #goOn(): void {
    const held = this.#waiting.get(this.#next);
    if (held !== undefined) this.#beginHeld(this.#next, held);
    else this.#waitForMissing();
    this.#restIfIdle();
  }

  #beginHeld(number: number, held: QueuedSend): void {
    this.#waiting.delete(number);
    this.#options.changed(-1, held);
    this.#take(number, held.send);
    held.begin((how) => this.#started(number, how));
  }

  #waitForMissing(): void {
    if (this.#current !== undefined || this.#waiting.size === 0 || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#options.clock.after(this.#options.waitMs, () => {
      this.#cancelTimer = undefined;
      const number = Math.min(...this.#waiting.keys());
      const held = this.#waiting.get(number);
      if (held === undefined) return;
      this.#options.gap(this.#next, number - 1, held);
      this.#beginHeld(number, held);
    });
  }

  #stopWaiting(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #restIfIdle(): void {
    if (this.#current === undefined && this.#waiting.size === 0) this.#options.idle();
  }
}

function keyOf({ operation }: Send): Maybe<string> {
  return operation.envelope.context.idempotencyKey;
}

/** The same number twice before the first was answered. With the same key it is a repeated message. */
function repeated(number: number, first: Maybe<string>, second: Maybe<string>): AgentError {
  return first !== undefined && first === second
    ? overloadedError(`message ${number} has already arrived and is queued`)
    : repeat(number);
}

function repeat(number: number): AgentError {
  return new AgentError("replayed", `message ${number} of this sequence was already received`);
}
