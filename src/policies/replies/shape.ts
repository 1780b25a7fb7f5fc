import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  type Operation,
  type Reply,
} from "../../envelope/index.js";
import { DONE, stopIterator } from "./iterators.js";

/** True for operations whose caller reads a stream, even if the handler answers with one event. */
export function wantsStream(operation: Operation): boolean {
  return operation.kind === "send" ? operation.delivery === "stream" : operation.kind === "task.subscribe";
}

/** Turns a synchronous throw of the handler into a rejection. */
export function replyOf(handler: Handler, operation: Operation, call: Call): Reply {
  try {
    return handler(operation, call);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** For layers that must choose the reply's shape before they have a reply. */
export function onlyEvent(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  stopIterator(reply[Symbol.asyncIterator]());
  return Promise.reject(new AgentError("internal", "expected a single event, got a stream"));
}

/** The reply as an iterator, whatever its shape. */
export function iteratorOf(reply: Reply): AsyncIterator<AgentEvent> {
  return isPromise(reply) ? new OneEvent(reply) : reply[Symbol.asyncIterator]();
}

/** A stream of one event. Not a generator, whose `return()` would wait for the event. */
class OneEvent implements AsyncIterator<AgentEvent> {
  readonly #reply: Promise<AgentEvent>;
  #over = false;

  constructor(reply: Promise<AgentEvent>) {
    this.#reply = reply;
    // An unread failure must not become an unhandled rejection.
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
