import { AgentError, type Maybe, type Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { cannotWait, tooMany } from "../refused-turn.js";
import { type Beginning, beginSend, type Send } from "./begun-send.js";
import { HeldSend } from "./held-send.js";

export interface SequenceOptions {
  readonly clock: Clock;
  readonly buffer: number;
  readonly waitMs: number;
  /** One more, or one less, waits. */
  changed(by: 1 | -1, held: HeldSend): void;
  /** The places from `first` to `last` were waited for in vain; `held` is the one that goes on. */
  gap(first: number, last: number, held: HeldSend): void;
  /** Nobody is under way and nobody waits. */
  idle(): void;
}

/** One sequence at its receiver: what is begun has rising numbers, whatever order it came in. */
export class Sequence {
  readonly #options: SequenceOptions;
  /** The place whose turn it is. */
  #next = 1;
  /** Whose turn it is, until it was accepted. */
  #current: Maybe<Send>;
  /** The place before, while it failed and nobody behind it has begun: its message may come again. */
  #reopened: Maybe<number>;
  readonly #waiting = new Map<number, HeldSend>();
  /** The last places that were taken, with the keys of their messages. */
  readonly #taken = new Map<number, Maybe<string>>();
  #takeBack: Maybe<() => void>;

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
    if (this.#waiting.size >= buffer) return Promise.reject(tooMany(`at most ${buffer} messages wait for the ones before them`));
    return this.#wait(number, send);
  }

  #beginNow(number: number, send: Send): Reply {
    this.#take(number, send);
    return beginSend(send, (how) => this.#began(number, how));
  }

  #take(number: number, send: Send): void {
    this.#stopWaiting();
    this.#current = send;
    this.#next = number;
    this.#reopened = undefined;
  }

  #began(number: number, how: Beginning): void {
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

  /** A place whose turn has been: its message again, or its message too late. */
  #again(number: number, send: Send): Reply {
    if (!this.#taken.has(number))
      return Promise.reject(new AgentError("expired", `message ${number} came after its place had been given up`));
    const key = keyOf(send);
    // Whoever honours the key starts nothing a second time, and gives the answer it gave.
    if (key !== undefined && key === this.#taken.get(number)) return send.next(send.operation, send.call);
    return Promise.reject(repeat(number));
  }

  #wait(number: number, send: Send): Reply {
    const held = new HeldSend(send, this.#options.clock, () => {
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

  #beginHeld(number: number, held: HeldSend): void {
    this.#waiting.delete(number);
    this.#options.changed(-1, held);
    this.#take(number, held.send);
    held.begin((how) => this.#began(number, how));
  }

  #waitForMissing(): void {
    if (this.#current !== undefined || this.#waiting.size === 0 || this.#takeBack !== undefined) return;
    this.#takeBack = this.#options.clock.after(this.#options.waitMs, () => {
      this.#takeBack = undefined;
      const number = Math.min(...this.#waiting.keys());
      const held = this.#waiting.get(number);
      if (held === undefined) return;
      this.#options.gap(this.#next, number - 1, held);
      this.#beginHeld(number, held);
    });
  }

  #stopWaiting(): void {
    this.#takeBack?.();
    this.#takeBack = undefined;
  }

  #restIfIdle(): void {
    if (this.#current === undefined && this.#waiting.size === 0) this.#options.idle();
  }
}

function keyOf({ operation }: Send): Maybe<string> {
  return operation.envelope.context.idempotencyKey;
}

/** The same place twice while the first has not begun to be answered. With one key it is the same message, sent again. */
function repeated(number: number, first: Maybe<string>, second: Maybe<string>): AgentError {
  return first !== undefined && first === second
    ? tooMany(`message ${number} is here already and waits for its turn`)
    : repeat(number);
}

function repeat(number: number): AgentError {
  return new AgentError("replayed", `message ${number} of this sequence was there before`);
}
