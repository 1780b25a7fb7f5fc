import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  type Operation,
  type Reply,
} from "../../envelope/index.js";
import { DONE } from "./done.js";
import { stopIterator } from "./stop-iterator.js";

/** Whoever asks this reads many events, also where one answers with a single one. */
export function wantsStream(operation: Operation): boolean {
  return operation.kind === "send" ? operation.delivery === "stream" : operation.kind === "task.subscribe";
}

/** A handler that throws instead of answering fails like one that rejects. */
export function replyOf(handler: Handler, operation: Operation, call: Call): Reply {
  try {
    return handler(operation, call);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** For layers that must say what shape they answer with before they know who answers. */
export function onlyEvent(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  stopIterator(reply[Symbol.asyncIterator]());
  return Promise.reject(new AgentError("internal", "one answer was expected and a stream came"));
}

/** The reply as its reader pulls it, whatever its shape. */
export function iteratorOf(reply: Reply): AsyncIterator<AgentEvent> {
  return isPromise(reply) ? new OneEvent(reply) : reply[Symbol.asyncIterator]();
}

/** A stream of one. Not a generator, which would answer `return()` only after the event. */
class OneEvent implements AsyncIterator<AgentEvent> {
  readonly #reply: Promise<AgentEvent>;
  #over = false;

  constructor(reply: Promise<AgentEvent>) {
    this.#reply = reply;
    // Nobody may ever ask, and a failure that nobody asks for must not end the process.
    reply.catch(() => undefined);
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return Promise.resolve(DONE);
    this.#over = true;
    return this.#reply.then((value) => ({ done: false, value }));
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.#over = true;
    return Promise.resolve(DONE);
  }
}
