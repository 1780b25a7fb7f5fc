import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  type Operation,
  type Reply,
} from "../../envelope/index.js";
import { DONE, stopIterator } from "../replies/iterators.js";
import { iteratorOf, onlyEvent, replyOf, wantsStream } from "../replies/shape.js";

/** After a failure with nothing delivered: the next handler, or the final error. */
export type After = (error: AgentError) => Handler | AgentError;

/** Tries handlers in turn until one delivers an event. */
export function failover(first: Handler, after: After, operation: Operation, call: Call): Reply {
  const reply = replyOf(first, operation, call);
  if (!isPromise(reply) || wantsStream(operation)) return new FailoverStream(reply, after, operation, call);
  const goOn = (thrown: unknown): Promise<AgentEvent> => {
    const next = after(AgentError.from(thrown));
    if (next instanceof AgentError) return Promise.reject(next);
    return onlyEvent(replyOf(next, operation, call)).catch(goOn);
  };
  return reply.catch(goOn);
}

class FailoverStream implements AsyncIterableIterator<AgentEvent> {
  readonly #after: After;
  readonly #operation: Operation;
  readonly #call: Call;
  #source: AsyncIterator<AgentEvent>;
  #delivered = false;
  #over = false;

  constructor(first: Reply, after: After, operation: Operation, call: Call) {
    this.#source = iteratorOf(first);
    this.#after = after;
    this.#operation = operation;
    this.#call = call;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    while (!this.#over) {
      try {
        const step = await this.#source.next();
        if (this.#over) break; // the reader left during the pull
        this.#delivered = true;
        this.#over = step.done === true;
        return step;
      } catch (thrown) {
        if (this.#over) break;
        this.#goOn(AgentError.from(thrown));
      }
    }
    return DONE;
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    if (!this.#over) stopIterator(this.#source);
    this.#over = true;
    return DONE;
  }

  #goOn(error: AgentError): void {
    const next = this.#delivered ? error : this.#after(error);
    if (next instanceof AgentError) {
      this.#over = true;
      throw next;
    }
    this.#source = iteratorOf(replyOf(next, this.#operation, this.#call));
  }
}
