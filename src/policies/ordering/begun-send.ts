import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  type Maybe,
  type OperationOf,
  type Reply,
} from "../../envelope/index.js";
import { DONE } from "../replies/done.js";
import { stopIterator } from "../replies/stop-iterator.js";

/** A message on its way, and who takes it. */
export interface Send {
  readonly next: Handler;
  readonly operation: OperationOf<"send">;
  readonly call: Call;
}

/**
 * How the beginning of a send went. `accepted`: its first event came, or its whole answer. `left`: whoever asked is gone,
 * and what became of the message is not known. An error: it failed before anything came.
 */
export type Beginning = "accepted" | "left" | AgentError;

/**
 * Sends, and tells once how that began. A stream is asked for its first event at once, because a reader that comes late
 * must not hold up those behind it.
 */
export function beginSend({ next, operation, call }: Send, began: (how: Beginning) => void): Reply {
  const tell = once(began);
  // A handler that does not hear the cancel would keep its place for ever.
  const forget = call.cancel.onCancel(() => tell("left"));
  const settled = (how: Beginning): void => {
    forget();
    tell(how);
  };
  try {
    const reply = next(operation, call);
    return isPromise(reply) ? begunOne(reply, settled) : new BegunStream(reply, settled);
  } catch (thrown) {
    settled(AgentError.from(thrown));
    return Promise.reject(thrown);
  }
}

function begunOne(reply: Promise<AgentEvent>, settled: (how: Beginning) => void): Promise<AgentEvent> {
  return reply.then(
    (event) => {
      settled("accepted");
      return event;
    },
    (thrown: unknown) => {
      settled(AgentError.from(thrown));
      throw thrown;
    },
  );
}

class BegunStream implements AsyncIterableIterator<AgentEvent> {
  readonly #source: AsyncIterator<AgentEvent>;
  readonly #settled: (how: Beginning) => void;
  #first: Maybe<Promise<IteratorResult<AgentEvent>>>;
  #over = false;

  constructor(reply: AsyncIterable<AgentEvent>, settled: (how: Beginning) => void) {
    this.#source = reply[Symbol.asyncIterator]();
    this.#settled = settled;
    this.#first = this.#source.next();
    this.#first.then(
      () => settled("accepted"),
      (thrown: unknown) => settled(AgentError.from(thrown)),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return Promise.resolve(DONE);
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#source.next();
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    if (!this.#over) {
      this.#over = true;
      stopIterator(this.#source);
      this.#settled("left");
    }
    return Promise.resolve(DONE);
  }
}

function once(began: (how: Beginning) => void): (how: Beginning) => void {
  let told = false;
  return (how) => {
    if (told) return;
    told = true;
    began(how);
  };
}
