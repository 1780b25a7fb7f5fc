import { AgentError } from "../envelope/index.js";
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
  readonly #frames: Chunk[] = [];
  readonly #sizes: number[] = [];
  /** Index of the first entry that is not read. */
  #first = 0;
  #cost = 0;
  #waiting: ((step: Step) => void) | undefined;
  #taken = false;
  #ended = false;

  /** `onRoom` is called by every read that leaves at most half of `limit` bytes queued. */
  constructor(limit: number, onRoom: () => void) {
    this.#limit = limit;
    this.#onRoom = onRoom;
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
    return this.#cost > this.#limit;
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
    this.#cost += bytes + ENTRY_BYTES;
  }

  /** Nothing more arrives. What is queued can still be read. */
  end(): void {
    this.#ended = true;
    this.#waiting?.(DONE);
    this.#waiting = undefined;
  }

  /** Discards what is queued and whatever still arrives. */
  discard(): void {
    this.end();
    this.#frames.length = 0;
    this.#sizes.length = 0;
    this.#first = 0;
    this.#cost = 0;
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
    this.#cost -= (this.#sizes[this.#first] as number) + ENTRY_BYTES;
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
