import {
  type AgentEvent,
  type Call,
  type Envelope,
  type Handler,
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
import { DONE } from "../replies/done.js";
import { iteratorOf, onlyEvent } from "../replies/shape.js";
import { stopIterator } from "../replies/stop-iterator.js";
import type { Selector } from "../selection/selector.js";
import { stack } from "../stack.js";
import { answerUte, type UteIds } from "./answer-ute.js";
import { LoadBalancerHandler } from "./handler.js";
import { healthOf } from "./health.js";
import { TaskAffinity } from "./task-affinity.js";
import { watchDestination } from "./watch.js";

export interface LoadBalancerOptions {
  /** At least one, each with an id of its own. */
  readonly destinations: readonly Destination[];
  readonly selector: Selector;
  /** Around each destination, outermost first: bulkhead, retry, breaker, deadline per try. */
  layersFor?(destination: Destination): readonly Maybe<Layer>[];
  /** A second attempt at the next destination beside one that is late. Default: none. */
  readonly hedge?: Maybe<HedgeRules>;
  /**
   * The destinations are replicas over one store: a key that was said to one is known to all. Only then may a message
   * that perhaps arrived be said to another one. Default: false.
   */
  readonly sharedKeys?: Maybe<boolean>;
  /** Tasks whose place is remembered. Default: 10,000. */
  readonly knownTasks?: Maybe<number>;
  readonly clock: Clock;
  /** Names the answers of `route`. */
  readonly newId: () => string;
  readonly notes?: Maybe<PolicySink>;
}

/** The seed's router: one handler in front of many, and the same with documents in and documents out. */
export interface LoadBalancer {
  readonly handler: Handler;
  /** A message as UTE JSON; its answer, or its task when that has ended or asks something, as UTE JSON. */
  route(ute: JsonObject, call?: Call): Promise<JsonObject>;
  /** The same event by event. */
  routeStreaming(ute: JsonObject, call?: Call): AsyncIterableIterator<JsonObject>;
  /** `status` of the whole, and under `destinations` that of each by its id. */
  health(): Promise<JsonObject>;
}

const KNOWN_TASKS = 10_000;

/**
 * One handler in front of many destinations. The selector puts them in order; the first gets the call, the next one only
 * where the failure allows it, nothing was delivered, and saying it again can do no harm. What is about a task goes to
 * the destination that has it. Every choice is told as a `decision`.
 */
export function loadBalancer(options: LoadBalancerOptions): LoadBalancer {
  const { destinations, selector, clock, notes, hedge, newId } = options;
  checkDestinations(destinations);
  const places = new TaskAffinity(options.knownTasks ?? KNOWN_TASKS);
  const layered = new Map<Destination, Handler>();
  const ways = new Map<Destination, Handler>();
  for (const each of destinations) {
    const handler = stack(options.layersFor?.(each) ?? [])(each.handler);
    layered.set(each, handler);
    ways.set(each, watchDestination(each, selector, places, clock)(handler));
  }
  const hedging = hedge === undefined ? undefined : new Hedging(hedge, clock, notes);
  const sharedKeys = options.sharedKeys ?? false;
  const { handle } = new LoadBalancerHandler({ destinations, ways, selector, places, hedging, sharedKeys, clock, notes });
  const ids = { now: () => clock.now(), newId };
  return {
    handler: handle,
    async route(ute, call = startCall()) {
      const envelope = readUte(ute);
      const reply = handle({ kind: "send", envelope, delivery: "answer", task: "auto" }, call);
      return answerUte(await onlyEvent(reply), envelope, ids);
    },
    routeStreaming: (ute, call = startCall()) => new UteStream(handle, ute, call, ids),
    // Not by the watched ways: how long a ping takes says nothing of how long work does.
    health: () => healthOf(layered, clock),
  };
}

function checkDestinations(destinations: readonly Destination[]): void {
  if (destinations.length === 0) throw new TypeError("a switchboard needs at least one destination");
  const ids = new Set<string>();
  for (const { id, weight = 1 } of destinations) {
    if (ids.has(id)) throw new TypeError(`two destinations are called ${JSON.stringify(id)}`);
    ids.add(id);
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw new TypeError(`the weight of ${JSON.stringify(id)} is a number from 0 on, not ${weight}`);
  }
}

interface OpenedUte {
  readonly request: Envelope;
  readonly source: AsyncIterator<AgentEvent>;
}

/** Not a generator, which would answer `return()` only after the next event. Nothing is sent before the first pull. */
class UteStream implements AsyncIterableIterator<JsonObject> {
  readonly #open: () => OpenedUte;
  readonly #ids: UteIds;
  #opened: Maybe<OpenedUte>;
  #over = false;

  constructor(handler: Handler, ute: JsonObject, call: Call, ids: UteIds) {
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
