import { AgentError, type Call, type Envelope, type Maybe, type Principal } from "../envelope/index.js";

/** Where messages go that a peer initiates: to `receive()` of a client, to the agent of a server. */
export interface Inbox {
  /** Where peers can send to. Undefined if nothing listens. */
  readonly address: Maybe<string>;
  /** Waits for the message with this correlation: for protocols whose answer arrives as a message of its own. */
  expect(correlation: string, call: Call): Promise<Envelope>;
  /** Delivers a message. False if the inbox is full: the protocol then answers `overloaded`. */
  deliver(envelope: Envelope, from: Principal, correlation?: Maybe<string>): boolean;
}

/** The inbox of a client: messages that are not expected wait until they are received. */
export interface ClientInbox extends Inbox {
  /** Messages that wait and all later ones, until the call is cancelled. */
  receive(call: Call): AsyncIterable<Envelope>;
}

/** What an inbox is made of. */
export interface InboxParts {
  /** Messages that may wait, and expected messages that may be awaited. */
  readonly limit: number;
  readonly address?: Maybe<string>;
  /** Takes every message that is not expected. Default: messages wait for `receive`. False: not taken. */
  readonly onMessage?: Maybe<(envelope: Envelope, from: Principal) => boolean>;
}

/** Messages that a peer initiated. Bounded: a full inbox refuses. */
export class MessageInbox implements ClientInbox {
  readonly address: Maybe<string>;
  readonly #parts: InboxParts;
  readonly #expected = new Map<string, (envelope: Envelope) => void>();
  readonly #waiting: Envelope[] = [];
  readonly #readers: InboxReader[] = [];

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.address = parts.address;
  }

  expect(correlation: string, call: Call): Promise<Envelope> {
    if (this.#expected.has(correlation))
      return Promise.reject(new AgentError("conflict", `a message with the correlation ${correlation} is already expected`));
    if (this.#expected.size >= this.#parts.limit)
      return Promise.reject(new AgentError("overloaded", `${this.#parts.limit} messages are already expected`, { sent: "no" }));
    return new Promise((resolve, reject) => {
      const off = call.cancel.onCancel((reason) => {
        this.#expected.delete(correlation);
        reject(reason);
      });
      this.#expected.set(correlation, (envelope) => {
        this.#expected.delete(correlation);
        off();
        resolve(envelope);
      });
    });
  }

  deliver(envelope: Envelope, from: Principal, correlation?: Maybe<string>): boolean {
    const expected = correlation === undefined ? undefined : this.#expected.get(correlation);
    if (expected !== undefined) {
      expected(envelope);
      return true;
    }
    if (this.#parts.onMessage !== undefined) return this.#parts.onMessage(envelope, from);
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve(envelope);
    else if (this.#waiting.length >= this.#parts.limit) return false;
    else this.#waiting.push(envelope);
    return true;
  }

  /** The messages that wait and all later ones, until the call is cancelled. Of several readers each message reaches one. */
  receive(call: Call): AsyncIterableIterator<Envelope> {
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => this.#next(call),
      return: async () => {
        call.cancel.cancel(new AgentError("cancelled", "the reader stopped reading"));
        return { done: true, value: undefined };
      },
    };
  }

  #next(call: Call): Promise<IteratorResult<Envelope, undefined>> {
    if (call.cancel.cancelled) return Promise.resolve({ done: true, value: undefined });
    const first = this.#waiting.shift();
    if (first !== undefined) return Promise.resolve({ done: false, value: first });
    return new Promise((resolve) => {
      const reader: InboxReader = {
        resolve(envelope) {
          off();
          resolve({ done: false, value: envelope });
        },
      };
      this.#readers.push(reader);
      const off = call.cancel.onCancel(() => {
        this.#readers.splice(this.#readers.indexOf(reader), 1);
        resolve({ done: true, value: undefined });
      });
    });
  }
}

interface InboxReader {
  resolve(envelope: Envelope): void;
}
