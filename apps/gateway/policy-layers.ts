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

/** Options of a policy: empty for `true`, undefined when it is off. */
function optionsOf<T extends object>(policy: boolean | T | undefined): T | undefined | Record<string, never> {
  return policy === true ? {} : policy === false ? undefined : policy;
}

/**
 * Policies of an agent across its upstreams. Outermost first: the deadline, because it limits all attempts together; the
 * cache, because a cached answer needs no queue; ordering, before anything can wait; numbering, outside of retries and hedges.
 */
export function agentLayers(name: string, policies: PolicyDocument, tools: PolicyTools): readonly Layer[] {
  const { clock, notes, newId } = tools;
  const { deadlineMs, cache, order, number: by } = policies;
  const common = { destination: name, notes, clock };
  const caching = optionsOf(cache);
  const ordered = typeof order === "string" ? { by: order } : order;
  return [
    deadlineMs === undefined ? undefined : deadline(deadlineMs, clock),
    caching && requestCache({ ...common, ...caching }),
    ordered && ordering({ ...common, ...ordered }),
    by && numbering({ by, newId }),
  ].filter((layer) => layer !== undefined);
}

/** Policies of one upstream, with their observable state. */
export interface UpstreamPolicies {
  readonly layers: readonly Layer[];
  readonly breaker: Maybe<CircuitBreaker>;
  readonly bulkhead: Maybe<Bulkhead>;
  readonly bulkheadLimit: number;
}

export interface UpstreamPolicyOptions {
  readonly destination: string;
  readonly policies: PolicyDocument;
  /** The agent has no other upstream. */
  readonly alone: boolean;
  /** Whether the peer deduplicates by idempotency key. Read per call: cards change. */
  idempotentSend(): boolean;
}

const BULKHEAD_WAITING = 256;

/**
 * Policies of one upstream. Outermost first: the bulkhead, because a retry keeps its slot; hedging, if there is no other
 * upstream to hedge with; retries; the breaker, which counts every attempt (outside the retries if there are other
 * upstreams); deadline propagation, per attempt. The timeout of one attempt (`timeoutMs`) is applied further in.
 */
export function upstreamPolicies(
  { destination, policies, alone, idempotentSend }: UpstreamPolicyOptions,
  { clock, random, newId, notes }: PolicyTools,
): UpstreamPolicies {
  const common = { destination, notes, clock };
  const bulk = optionsOf(policies.bulkhead);
  const isolation = bulk && bulkhead({ ...common, ...bulk });
  const breaking = optionsOf(policies.breaker);
  const breaker = breaking && circuitBreaker({ ...common, ...breaking });
  const retrying = optionsOf(policies.retry);
  const newKey = retrying !== undefined && "keys" in retrying && retrying.keys === true ? { newKey: newId } : {};
  return {
    breaker,
    bulkhead: isolation,
    bulkheadLimit: bulk?.["waiting"] ?? BULKHEAD_WAITING,
    layers: [
      isolation?.layer,
      alone && policies.hedge !== undefined ? hedge({ ...common, ...policies.hedge, idempotentSend }) : undefined,
      // With another upstream, an open breaker fails over at once instead of waiting for a retry.
      alone ? undefined : breaker?.layer,
      retrying && retry({ ...common, ...retrying, ...newKey, random, idempotentSend }),
      alone ? breaker?.layer : undefined,
      deadlinePropagation({ clock }),
    ].filter((layer) => layer !== undefined),
  };
}

/** Creates the selector for several upstreams. */
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

/** Reorders numbered messages from callers, for the agents that enable it, before tasks are created. */
export function listenerLayers(agents: ReadonlyMap<string, PolicyDocument>, { clock, notes }: PolicyTools): readonly Layer[] {
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
