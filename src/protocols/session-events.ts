import { AgentError, type AgentEvent, type Maybe } from "../envelope/index.js";

interface Queued {
  readonly event: AgentEvent;
  readonly bytes: number;
}

/** What a call has received and its caller has not read. Bounded: one slow reader must not stop the calls it shares a session with. */
export class SessionEvents {
  readonly #maxBytes: number;
  readonly #queued: Queued[] = [];
  #bytes = 0;
  #end: Maybe<{ readonly error: Maybe<AgentError> }>;
  #reader: Maybe<{ resolve(step: IteratorResult<AgentEvent, undefined>): void; reject(error: AgentError): void }>;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** False if the reader is too slow: the queue has then failed. Its stream can be resumed where the reader is. */
  push(event: AgentEvent, bytes: number): boolean {
    if (this.#end !== undefined) return true;
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ done: false, value: event });
      return true;
    }
    this.#queued.push({ event, bytes });
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return true;
    this.fail(new AgentError("interrupted", `more than ${this.#maxBytes} bytes of a stream were not read`, { sent: "maybe" }));
    return false;
  }

  end(): void {
    this.#finish(undefined);
  }

  /** Events that have arrived are still read first. */
  fail(error: AgentError): void {
    this.#finish(error);
  }

  /** Nobody reads on. */
  stop(): void {
    this.#queued.length = 0;
    this.#finish(undefined);
  }

  #finish(error: Maybe<AgentError>): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    const reader = this.#reader;
    this.#reader = undefined;
    if (error === undefined) reader?.resolve({ done: true, value: undefined });
    else reader?.reject(error);
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const first = this.#queued.shift();
    if (first !== undefined) {
      this.#bytes -= first.bytes;
      return Promise.resolve({ done: false, value: first.event });
    }
    if (this.#end?.error !== undefined) return Promise.reject(this.#end.error);
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }
}
