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
import { DONE, stopIterator } from "../replies/iterators.js";

/** A message to send and its handler. */
export interface Send {
  readonly next: Handler;
  readonly operation: OperationOf<"send">;
  readonly call: Call;
}

/**
 * How a send started. `accepted`: its first event or its answer arrived. `left`: the caller is gone,
 * and the outcome is unknown. An error: it failed before anything arrived.
 */
export type StartOutcome = "accepted" | "left" | AgentError;

/**
 * Sends, and reports once how that started. A stream is pulled for its first event at once, because a slow reader
 * must not block the queued messages.
 */
export function startSend({ next, operation, call }: Send, onStarted: (how: StartOutcome) => void): Reply {
  const notify = once(onStarted);
  // A handler that ignores the cancel would block the queue.
  const forget = call.cancel.onCancel(() => notify("left"));
  const settled = (how: StartOutcome): void => {
    forget();
    notify(how);
  };
  try {
    const reply = next(operation, call);
    return isPromise(reply) ? startedOne(reply, settled) : new StartedStream(reply, settled);
  } catch (thrown) {
    settled(AgentError.from(thrown));
    return Promise.reject(thrown);
  }
}

function startedOne(reply: Promise<AgentEvent>, settled: (how: StartOutcome) => void): Promise<AgentEvent> {
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

class StartedStream implements AsyncIterableIterator<AgentEvent> {
  readonly #source: AsyncIterator<AgentEvent>;
  readonly #settled: (how: StartOutcome) => void;
  #first: Maybe<Promise<IteratorResult<AgentEvent>>>;
  #over = false;

  constructor(reply: AsyncIterable<AgentEvent>, settled: (how: StartOutcome) => void) {
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

function once(onStarted: (how: StartOutcome) => void): (how: StartOutcome) => void {
  let notified = false;
  return (how) => {
    if (notified) return;
    notified = true;
    onStarted(how);
  };
}
