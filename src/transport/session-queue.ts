import { AgentError } from "../envelope/index.js";
import type { BufferedBytes } from "./buffered-bytes.js";
import type { Chunk } from "./exchange.js";

/** What one queued message costs beside its content, so that empty messages are bounded as well. */
const ENTRY_BYTES = 64;

/** Entries that were read are removed from the array in groups. */
const READ_ENTRIES = 256;

const DONE = Object.freeze({ done: true, value: undefined });

type Step = IteratorResult<Chunk, undefined>;

/** Received messages that nobody has read yet, for one reader. Hand-written: a generator costs a sixth of the throughput of a session. */
export class SessionQueue implements AsyncIterableIterator<Chunk, undefined> {
  readonly #limit: number;
  readonly #onRoom: () => void;
  /** The share of the process and of the caller, if they are limited. */
  #held: BufferedBytes | undefined;
  readonly #frames: Chunk[] = [];
  readonly #sizes: number[] = [];
  /** Index of the first entry that is not read. */
  #first = 0;
  #cost = 0;
  #waiting: ((step: Step) => void) | undefined;
  #taken = false;
  #ended = false;

  /** `onRoom` is called by every read that leaves at most half of `limit` bytes queued. */
  constructor(limit: number, onRoom: () => void, held?: BufferedBytes) {
    this.#limit = limit;
    this.#onRoom = onRoom;
    this.#held = held;
  }

  /** A reader waits for the next message. */
  get hasReader(): boolean {
    return this.#waiting !== undefined;
  }

  /** What is queued, entries included. */
  get bytes(): number {
    return this.#cost;
  }

  get isFull(): boolean {
    return this.#cost > this.#limit || (this.#cost > 0 && this.#held?.isFull(0) === true);
  }

  push(frame: Chunk, bytes: number): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting({ done: false, value: frame });
      return;
    }
    this.#frames.push(frame);
    this.#sizes.push(bytes);
    this.#count(bytes + ENTRY_BYTES);
  }

  /** Nothing more arrives. What is queued can still be read. */
  end(): void {
    this.#ended = true;
    // Nobody may ever read the rest.
    this.#held?.release();
    this.#held = undefined;
    this.#waiting?.(DONE);
    this.#waiting = undefined;
  }

  /** Discards what is queued and whatever still arrives. */
  discard(): void {
    this.end();
    this.#frames.length = 0;
    this.#sizes.length = 0;
    this.#first = 0;
    this.#count(-this.#cost);
  }

  #count(bytes: number): void {
    this.#cost += bytes;
    this.#held?.count(bytes);
  }

  /** Shows what is queued, in order. */
  visit(run: (frame: Chunk, bytes: number) => void): void {
    for (let index = this.#first; index < this.#frames.length; index++) {
      run(this.#frames[index] as Chunk, this.#sizes[index] as number); // within both arrays
    }
  }

  [Symbol.asyncIterator](): this {
    if (this.#taken) throw twoReaders();
    this.#taken = true;
    return this;
  }

  next(): Promise<Step> {
    if (this.#first < this.#frames.length) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#ended) return Promise.resolve(DONE);
    if (this.#waiting !== undefined) return Promise.reject(twoReaders());
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<Step> {
    this.discard();
    this.#onRoom();
    return Promise.resolve(DONE);
  }

  #take(): Chunk {
    const frame = this.#frames[this.#first] as Chunk; // the caller checked that there is one
    this.#count(-(this.#sizes[this.#first] as number) - ENTRY_BYTES);
    this.#frames[this.#first++] = "";
    if (this.#first === this.#frames.length || this.#first === READ_ENTRIES) {
      this.#frames.splice(0, this.#first);
      this.#sizes.splice(0, this.#first);
      this.#first = 0;
    }
    if (this.#cost <= this.#limit / 2) this.#onRoom();
    return frame;
  }
}

function twoReaders(): AgentError {
  return new AgentError("internal", "the messages of a session have one reader");
}
