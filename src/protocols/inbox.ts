import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  type Maybe,
  type Principal,
  RecentMap,
} from "../envelope/index.js";
import type { Replies } from "./replies.js";

/** How a message that a peer initiated is delivered. */
export interface Delivery {
  /** The call that the message is for the agent. Default: one of the sender, without more. */
  readonly call?: Maybe<Call>;
  /** Called with the answer of the agent. Default: it is not sent. The message counts as unread until the promise settles. */
  readonly answered?: Maybe<(answer: AgentEvent) => Promise<void>>;
}

/** Where messages go that a peer initiates: to `receive()` of a client, to the agent of a server. */
export interface Inbox {
  /** Where peers can send to. Undefined if nothing listens. */
  readonly address: Maybe<string>;
  /**
   * Waits for the message with this correlation: for protocols whose answer arrives as a message of its own. `from`: the id of the only peer
   * that may send it.
   */
  expect(correlation: string, call: Call, from?: Maybe<string>): Promise<Envelope>;
  /** Delivers a message. False if the inbox is full: the protocol then answers `overloaded`. */
  deliver(envelope: Envelope, from: Principal, correlation?: Maybe<string>, delivery?: Maybe<Delivery>): boolean;
}

/** The inbox of a client: messages that are not expected wait until they are received. */
export interface ClientInbox extends Inbox {
  /** Messages that wait and all later ones, until the call is cancelled. */
  receive(call: Call): AsyncIterable<Envelope>;
  /** The answer of this peer with this correlation is received like a message that is not expected. The oldest is forgotten first. */
  listen(correlation: string, from: string): void;
}

/** What an inbox is made of. */
export interface InboxParts {
  /** Messages that may wait, and expected messages that may be awaited. */
  readonly limit: number;
  readonly address?: Maybe<string>;
  /** Takes every message that is not expected. Default: messages wait for `receive`. False: not taken. */
  readonly onMessage?: Maybe<(envelope: Envelope, from: Principal, delivery: Delivery) => boolean>;
  /** The server at which answers arrive: of a client those that it expects are taken from there, a server offers them there. */
  readonly replies?: Maybe<Replies>;
}

/** Messages that a peer initiated. Bounded: a full inbox refuses. */
export class MessageInbox implements ClientInbox {
  readonly address: Maybe<string>;
  readonly #parts: InboxParts;
  readonly #expected = new Map<string, Expected>();
  /** Correlations of answers for `receive`, with the peer that may send them. */
  readonly #listened: RecentMap<string>;
  readonly #waiting: Envelope[] = [];
  readonly #readers: InboxReader[] = [];

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.address = parts.address;
    this.#listened = new RecentMap(parts.limit);
  }

  expect(correlation: string, call: Call, from?: Maybe<string>): Promise<Envelope> {
    if (this.#expected.has(correlation))
      return Promise.reject(new AgentError("conflict", `a message with the correlation ${correlation} is already expected`));
    if (this.#expected.size >= this.#parts.limit)
      return Promise.reject(new AgentError("overloaded", `${this.#parts.limit} messages are already expected`, { sent: "no" }));
    return new Promise((resolve, reject) => {
      const off = call.cancel.onCancel((reason) => {
        this.#expected.delete(correlation);
        reject(reason);
      });
      const settle = (envelope: Envelope): void => {
        this.#expected.delete(correlation);
        off();
        resolve(envelope);
      };
      this.#expected.set(correlation, { from, settle });
    });
  }

  listen(correlation: string, from: string): void {
    this.#listened.set(correlation, from);
  }

  deliver(envelope: Envelope, from: Principal, correlation?: Maybe<string>, delivery: Delivery = {}): boolean {
    if (correlation !== undefined) {
      const taken = this.takeReply(envelope, from, correlation) ?? this.#parts.replies?.offer(envelope, from, correlation);
      if (taken !== undefined) return taken;
    }
    return this.#parts.onMessage?.(envelope, from, delivery) ?? this.#keep(envelope);
  }

  /** Takes an answer that is expected here. False: there is no room for it; undefined: it is not expected, or not of this sender. */
  takeReply(envelope: Envelope, { id }: Principal, correlation: string): Maybe<boolean> {
    const expected = this.#expected.get(correlation);
    if (expected !== undefined && (expected.from === undefined || expected.from === id)) {
      expected.settle(envelope);
      return true;
    }
    if (this.#listened.get(correlation) !== id) return undefined;
    const kept = this.#keep(envelope);
    if (kept) this.#listened.delete(correlation);
    return kept;
  }

  #keep(envelope: Envelope): boolean {
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

interface Expected {
  readonly from: Maybe<string>;
  settle(envelope: Envelope): void;
}

interface InboxReader {
  resolve(envelope: Envelope): void;
}
