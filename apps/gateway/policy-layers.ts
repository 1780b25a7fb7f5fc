import type { Layer, Maybe } from "../../src/index.js";
import {
  type Bulkhead,
  bulkhead,
  type CircuitBreaker,
  type Clock,
  circuitBreaker,
  consistentHash,
  deadline,
  deadlinePropagation,
  firstMatch,
  hedge,
  latencyAware,
  numbering,
  ordering,
  type PolicySink,
  reorder,
  requestCache,
  retry,
  type Selector,
  weighted,
} from "../../src/public/policies.js";
import type { PolicyDocument } from "./policy-schema.js";

export interface PolicyTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly notes: Maybe<PolicySink>;
}

/** A policy that is only switched on has nothing of its own to say. */
function optionsOf<T extends object>(policy: boolean | T | undefined): T | undefined | Record<string, never> {
  return policy === true ? {} : policy === false ? undefined : policy;
}

/**
 * Around an agent, whichever of its upstreams gets the call. Outermost first: the deadline, because it limits all tries
 * together; the cache, because what is known needs no place in any queue; the order, before anything can wait; the
 * numbers, outside whatever says a message twice.
 */
export function agentLayers(name: string, policies: PolicyDocument, tools: PolicyTools): readonly Layer[] {
  const { clock, notes, newId } = tools;
  const { deadlineMs, cache, order, number: by } = policies;
  const place = { destination: name, notes, clock };
  const caching = optionsOf(cache);
  const ordered = typeof order === "string" ? { by: order } : order;
  return [
    deadlineMs === undefined ? undefined : deadline(deadlineMs, clock),
    caching && requestCache({ ...place, ...caching }),
    ordered && ordering({ ...place, ...ordered }),
    by && numbering({ by, newId }),
  ].filter((layer) => layer !== undefined);
}

/** One upstream's policies, and what can be seen of them. */
export interface UpstreamPolicies {
  readonly layers: readonly Layer[];
  readonly breaker: Maybe<CircuitBreaker>;
  readonly bulkhead: Maybe<Bulkhead>;
  readonly bulkheadLimit: number;
}

export interface UpstreamPlace {
  readonly destination: string;
  readonly policies: PolicyDocument;
  /** There is no other upstream to turn to. */
  readonly alone: boolean;
  /** The peer starts nothing twice for one key. Asked per call: cards change. */
  idempotentSend(): boolean;
}

const BULKHEAD_WAITING = 256;

/**
 * Around one upstream. Outermost first: the bulkhead, because a retry keeps its place; hedging, where there is no other
 * upstream to hedge with; retries; the breaker, which counts every try (outside the retries where there are other
 * upstreams to turn to); and what is left of the deadline, said to the
 * peer with each try. The limit of one try (`timeoutMs`) stands further in.
 */
export function upstreamPolicies(
  { destination, policies, alone, idempotentSend }: UpstreamPlace,
  { clock, random, newId, notes }: PolicyTools,
): UpstreamPolicies {
  const place = { destination, notes, clock };
  const bulk = optionsOf(policies.bulkhead);
  const holding = bulk && bulkhead({ ...place, ...bulk });
  const breaking = optionsOf(policies.breaker);
  const breaker = breaking && circuitBreaker({ ...place, ...breaking });
  const retrying = optionsOf(policies.retry);
  const newKey = retrying !== undefined && "keys" in retrying && retrying.keys === true ? { newKey: newId } : {};
  return {
    breaker,
    bulkhead: holding,
    bulkheadLimit: bulk?.["waiting"] ?? BULKHEAD_WAITING,
    layers: [
      holding?.layer,
      alone && policies.hedge !== undefined ? hedge({ ...place, ...policies.hedge, idempotentSend }) : undefined,
      // Where there is another upstream, an open breaker is a reason to turn to it at once, and not to wait.
      alone ? undefined : breaker?.layer,
      retrying && retry({ ...place, ...retrying, ...newKey, random, idempotentSend }),
      alone ? breaker?.layer : undefined,
      deadlinePropagation({ clock }),
    ].filter((layer) => layer !== undefined),
  };
}

/** How one of several upstreams is chosen. */
export function selectorFor(select: PolicyDocument["select"], { clock, random }: PolicyTools): Selector {
  switch (select) {
    case "weighted":
      return weighted({ random });
    case "latency-average":
      return latencyAware({ by: "ewma", clock, random });
    case "latency-percentile":
      return latencyAware({ by: "percentile", clock, random });
    case "hash-session":
      return consistentHash({ by: "session" });
    case "hash-trace":
      return consistentHash({ by: "trace" });
    case "first-match":
    case undefined:
      return firstMatch();
  }
}

/** Before the gateway's own tasks: numbered messages of callers are put back in order, for the agents that want it. */
export function frontLayers(agents: ReadonlyMap<string, PolicyDocument>, { clock, notes }: PolicyTools): readonly Layer[] {
  const layers = new Map(
    [...agents].flatMap(([name, policies]) => {
      const options = optionsOf(policies.reorder);
      return options === undefined ? [] : [[name, reorder({ destination: name, notes, clock, ...options })] as const];
    }),
  );
  if (layers.size === 0) return [];
  return [
    (next) => {
      const byAgent = new Map([...layers].map(([name, layer]) => [name, layer(next)]));
      return (operation, call) => (byAgent.get(call.agent) ?? next)(operation, call);
    },
  ];
}
