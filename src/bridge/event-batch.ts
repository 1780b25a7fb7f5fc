import { type AgentEvent, type Maybe, type ReadyIterator, TAKE_READY } from "../envelope/index.js";
import { Relayed, type UpstreamEvent } from "../tasks/index.js";

const BATCH_EVENTS = 64; // that are one step of the task

/** Steps whose events arrived together, as one. */
export class EventBatch {
  #events: UpstreamEvent[] = [];
  #state: Relayed["state"];

  /** A step without events may have a state to store. */
  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#state === undefined;
  }

  add({ events, state }: Relayed): void {
    this.#events.push(...events);
    this.#state = state ?? this.#state;
  }

  /** The next event that is there, while the batch has room. */
  next(arrived: ReadyIterator<AgentEvent>): Maybe<AgentEvent> {
    return this.#events.length >= BATCH_EVENTS ? undefined : arrived[TAKE_READY]?.();
  }

  whole(): Relayed {
    const whole = new Relayed(this.#events, this.#state);
    this.#events = [];
    this.#state = undefined;
    return whole;
  }
}
