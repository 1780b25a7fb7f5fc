import {
  type AgentEvent,
  type Call,
  type Envelope,
  type Handler,
  type IdSource,
  type JsonObject,
  type Layer,
  type Maybe,
  readUte,
  startCall,
} from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import type { Destination } from "../destination.js";
import { type HedgeRules, Hedging } from "../hedging/pair.js";
import type { PolicySink } from "../notes.js";
import { DONE, stopIterator } from "../replies/iterators.js";
import { iteratorOf, onlyEvent } from "../replies/shape.js";
import type { Selector } from "../selection/selector.js";
import { stack } from "../stack.js";
import { answerUte } from "./answer-ute.js";
import { LoadBalancerHandler } from "./handler.js";
import { healthOf } from "./health.js";
import { TaskAffinity } from "./task-affinity.js";
import { watchDestination } from "./watch.js";

/** Options of `loadBalancer`. */
export interface LoadBalancerOptions {
  /** At least one, with unique ids. */
  readonly destinations: readonly Destination[];
  /** Orders the destinations for each call. */
  readonly selector: Selector;
  /** Policies around each destination, outermost first: bulkhead, retry, breaker, deadline per attempt. */
  layersFor?(destination: Destination): readonly Maybe<Layer>[];
  /** Starts a second attempt at the next destination when the first is late. Default: off. */
  readonly hedge?: Maybe<HedgeRules>;
  /**
   * The destinations are replicas over one store: an idempotency key sent to one is known to all. Only then may a message
   * that may have arrived be sent to another one. Default: false.
   */
  readonly sharedKeys?: Maybe<boolean>;
  /** Tasks whose destination is remembered. Default: 10,000. */
  readonly knownTasks?: Maybe<number>;
  /** The time source. */
  readonly clock: Clock;
  /** Creates the ids of answers of `route`. */
  readonly newId: () => string;
  /** Receives notes. Default: none. */
  readonly notes?: Maybe<PolicySink>;
}

/** One handler for many destinations, and the same with UTE documents. */
export interface LoadBalancer {
  readonly handler: Handler;
  /** Sends a UTE JSON message and returns the answer, or the task once it has ended or requires input, as UTE JSON. */
  route(ute: JsonObject, call?: Call): Promise<JsonObject>;
  /** The same, one UTE JSON document per event. */
  routeStreaming(ute: JsonObject, call?: Call): AsyncIterableIterator<JsonObject>;
  /** The overall status, and that of each destination by id. */
  health(): Promise<JsonObject>;
}

const KNOWN_TASKS = 10_000;

/**
 * One handler for many destinations. The selector orders them; the first gets the call, the next one only
 * if the error is retryable, nothing was delivered, and repeating is safe. Operations on a task go to
 * the destination that has it. Every choice is reported as a `decision` note.
 */
export function loadBalancer(options: LoadBalancerOptions): LoadBalancer {
  const { destinations, selector, clock, notes, hedge, newId } = options;
  checkDestinations(destinations);
  const affinity = new TaskAffinity(options.knownTasks ?? KNOWN_TASKS);
  const layered = new Map<Destination, Handler>();
  const handlers = new Map<Destination, Handler>();
  for (const each of destinations) {
    const handler = stack(options.layersFor?.(each) ?? [])(each.handler);
    layered.set(each, handler);
    handlers.set(each, watchDestination(each, selector, affinity, clock)(handler));
  }
  const hedging = hedge === undefined ? undefined : new Hedging(hedge, clock, notes);
  const sharedKeys = options.sharedKeys ?? false;
  const { handle } = new LoadBalancerHandler({ destinations, handlers, selector, affinity, hedging, sharedKeys, clock, notes });
  const ids = { now: () => clock.now(), newId };
  return {
    handler: handle,
    async route(ute, call = startCall()) {
      const envelope = readUte(ute);
      const reply = handle({ kind: "send", envelope, delivery: "answer", task: "auto" }, call);
      return answerUte(await onlyEvent(reply), envelope, ids);
    },
    routeStreaming: (ute, call = startCall()) => new UteStream(handle, ute, call, ids),
    // Without the latency observer: ping times say nothing about how long work takes.
    health: () => healthOf(layered, clock),
  };
}

function checkDestinations(destinations: readonly Destination[]): void {
  if (destinations.length === 0) throw new TypeError("a load balancer needs at least one destination");
  const ids = new Set<string>();
  for (const { id, weight = 1 } of destinations) {
    if (ids.has(id)) throw new TypeError(`two destinations are called ${JSON.stringify(id)}`);
    ids.add(id);
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw new TypeError(`the weight of ${JSON.stringify(id)} must be a number of at least 0, not ${weight}`);
  }
}

interface OpenedUte {
  readonly request: Envelope;
  readonly source: AsyncIterator<AgentEvent>;
}

/** Not a generator, whose `return()` would wait for the next event. Nothing is sent before the first pull. */
class UteStream implements AsyncIterableIterator<JsonObject> {
  readonly #open: () => OpenedUte;
  readonly #ids: IdSource;
  #opened: Maybe<OpenedUte>;
  #over = false;

  constructor(handler: Handler, ute: JsonObject, call: Call, ids: IdSource) {
    this.#open = () => {
      const request = readUte(ute);
      return {
        request,
        source: iteratorOf(handler({ kind: "send", envelope: request, delivery: "stream", task: "auto" }, call)),
      };
    };
    this.#ids = ids;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<JsonObject>> {
    if (this.#over) return DONE;
    this.#opened ??= this.#open();
    const { request, source } = this.#opened;
    const step = await source.next();
    return step.done === true ? DONE : { done: false, value: answerUte(step.value, request, this.#ids) };
  }

  async return(): Promise<IteratorResult<JsonObject>> {
    this.#over = true;
    if (this.#opened !== undefined) stopIterator(this.#opened.source);
    return DONE;
  }
}
