import { type AgentError, TAKE_READY } from "../../envelope/index.js";

type Step = IteratorResult<Uint8Array, undefined>;
const DONE: Step = { done: true, value: undefined };

/** Buffered bytes at which the connection is paused. */
const HIGH_WATER_BYTES = 64 * 1024;

/** Bytes pushed by a connection and pulled by one reader, with backpressure. */
export class ByteStream implements AsyncIterableIterator<Uint8Array> {
  readonly #resume: () => void;
  readonly #abandon: () => void;
  #queue: Uint8Array[] = [];
  #queued = 0;
  #paused = false;
  #ended = false;
  #error: AgentError | undefined;
  #waiting: { resolve(step: Step): void; reject(error: AgentError): void } | undefined;

  constructor(resume: () => void, abandon: () => void) {
    this.#resume = resume;
    this.#abandon = abandon;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns false to pause the connection. */
  push(piece: Uint8Array): boolean {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: piece });
      return true;
    }
    this.#queue.push(piece);
    this.#queued += piece.length;
    this.#paused = this.#queued >= HIGH_WATER_BYTES;
    return !this.#paused;
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.resolve(DONE);
    this.#waiting = undefined;
  }

  /** Buffered bytes are still read before the error is thrown. */
  fail(error: AgentError): void {
    this.#ended = true;
    this.#error = error;
    if (this.#waiting === undefined) return;
    this.#error = undefined;
    this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  next(): Promise<Step> {
    const piece = this[TAKE_READY]();
    if (piece !== undefined) return Promise.resolve({ done: false, value: piece });
    if (this.#error !== undefined) {
      const error = this.#error;
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  [TAKE_READY](): Uint8Array | undefined {
    const piece = this.#queue.shift();
    if (piece === undefined) return undefined;
    this.#queued -= piece.length;
    if (this.#paused && this.#queued < HIGH_WATER_BYTES) {
      this.#paused = false;
      this.#resume();
    }
    return piece;
  }

  return(): Promise<Step> {
    this.#queue = [];
    this.#error = undefined;
    if (!this.#ended) {
      this.end();
      this.#abandon();
    }
    this.#error = undefined;
    return Promise.resolve(DONE);
  }
}
