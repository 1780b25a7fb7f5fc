import type { Interface, Maybe, Store } from "../../src/index.js";
import type { CaptureLog } from "../../src/public/inspect.js";
import type { BreakerState, Console, LinkState, NetworkState, NodeState, QueueState } from "../dashboard/index.js";
import type { AgentSupervisor } from "./agent-supervisor.js";
import { LinkCounts } from "./link-counts.js";
import type { Observations, RecentCaller } from "./observations.js";
import type { PageCaller } from "./page-caller.js";
import { sendFromPage } from "./page-send.js";
import { recentTasks, taskEvents } from "./page-tasks.js";
import { interfaceName } from "./status.js";
import { CIRCUIT_OPEN, type UpstreamMonitor } from "./upstream-monitor.js";

/** Callers that were idle for longer are removed from the map. */
const CALLER_MS = 600_000;
const CALLERS_SHOWN = 20;

export interface ConsoleParts {
  readonly observations: Observations;
  readonly log: Maybe<CaptureLog>;
  readonly store: Store;
  readonly startedAt: number;
  supervisors(): readonly AgentSupervisor[];
  interfaces(agent: string): readonly Interface[];
  readonly pageCaller: PageCaller;
  /** The gateway's URL on this machine. */
  localUrl(): string;
  readonly secure: boolean;
  now(): number;
}

export interface GatewayConsole extends Console {
  /** Stops counting and ends the feeds of open pages. */
  close(): void;
}

/** The dashboard's view of the gateway, computed from its running parts. */
export function createConsole(parts: ConsoleParts): GatewayConsole {
  const { observations, log, supervisors } = parts;
  const counts = log && new LinkCounts(log, () => observations.changed());
  const ending = new AbortController();
  const upstreams = (): readonly UpstreamMonitor[] => supervisors().flatMap((supervisor) => supervisor.upstreams);
  return {
    messages: log ?? EMPTY_LOG,
    ending: ending.signal,
    onChange: (run) => observations.onChange(run),
    state: (): NetworkState => {
      const callers = recentCallers(observations.callers, parts.now());
      return {
        title: "gateway",
        startedAt: parts.startedAt,
        nodes: [gatewayNode(parts), ...supervisors().flatMap(agentNodes), ...callers.map(callerNode)],
        links: linksOf(supervisors(), counts, callers),
        breakers: upstreams().flatMap((upstream) => breakerOf(upstream, observations, parts.startedAt)),
        queues: upstreams().flatMap((upstream) => queueOf(upstream, observations)),
        decisions: [],
        happenings: observations.events,
        counters: { ...observations.counters, messages: log?.size ?? 0 },
      };
    },
    tasks: (limit) => recentTasks(parts.store, observations.callers, limit),
    taskEvents: (id) => taskEvents(parts.store, observations.callers, id),
    interfaces: (node) => interfacesOf(node, parts),
    send: (message, signal) => sendFromPage(message, interfacesOf(message.node, parts), parts, signal),
    close() {
      ending.abort();
      counts?.close();
    },
  };
}

/** For a gateway without an inspector, which serves no page. */
const EMPTY_LOG: CaptureLog = {
  list: () => [],
  get: () => undefined,
  trace: () => [],
  async *follow() {
    // Never yields.
  },
  size: 0,
  forgotten: 0,
};

/** Interfaces of the agent that a node belongs to; every upstream is a node of its agent. */
function interfacesOf(node: string, { supervisors, interfaces }: ConsoleParts): readonly Interface[] {
  const supervisor = supervisors().find(({ name, upstreams }) => name === node || upstreams.some(({ id }) => id === node));
  return supervisor === undefined ? [] : interfaces(supervisor.name);
}

function gatewayNode({ supervisors, interfaces }: ConsoleParts): NodeState {
  const [first] = supervisors();
  const served = first === undefined ? [] : interfaces(first.name);
  return {
    id: "gateway",
    title: "gateway",
    kind: "gateway",
    speaks: served.map(({ protocol, version, binding }) => `${protocol}@${version}/${binding}`),
    url: undefined,
    health: "up",
    note: `serves ${supervisors().length} ${supervisors().length === 1 ? "agent" : "agents"}`,
    actions: [],
  };
}

function agentNodes({ upstreams, problem, config }: AgentSupervisor): readonly NodeState[] {
  return upstreams.map(({ id, config: { url }, health, problem: own, remote, card, policies }) => {
    // Until a call has closed it, nobody knows that the upstream works again.
    const isOpen = policies.breaker?.state().state === "open";
    return {
      id,
      title: id,
      kind: "agent",
      speaks: [interfaceName(remote)].filter((name) => name !== undefined),
      url,
      health: isOpen ? "down" : health,
      note: own?.message ?? problem?.message ?? (isOpen ? CIRCUIT_OPEN.message : undefined) ?? card?.description ?? config.mode,
      actions: [],
    };
  });
}

function recentCallers(callers: readonly RecentCaller[], nowMs: number): readonly RecentCaller[] {
  return callers.filter(({ lastAt }) => nowMs - lastAt < CALLER_MS).slice(-CALLERS_SHOWN);
}

function callerNode({ id, protocol }: RecentCaller): NodeState {
  return {
    id: `caller:${id}`,
    title: id,
    kind: "caller",
    speaks: protocol === "" ? [] : [protocol],
    url: undefined,
    health: "unknown",
    note: "recent caller",
    actions: [],
  };
}

/** Links from callers to the gateway, and from the gateway to every upstream. */
function linksOf(
  supervisors: readonly AgentSupervisor[],
  counts: Maybe<LinkCounts>,
  callers: readonly RecentCaller[],
): readonly LinkState[] {
  const all = counts?.all ?? [];
  const shown = new Set(callers.map(({ id }) => `caller:${id}`));
  const inbound = [...shown].flatMap((from): readonly LinkState[] => {
    const counted = all.filter((count) => count.from === from);
    const [first] = counted;
    if (first === undefined) return [];
    return [linkOf({ from, to: "gateway", fromProtocol: first.protocol, toProtocol: first.protocol }, counted)];
  });
  const outbound = supervisors.flatMap(({ name, upstreams }) =>
    upstreams.map(({ id, remote }) => {
      const upstreamProtocol = remote?.protocol ?? "";
      const callerProtocol = all.find((count) => count.to === name && count.from !== "gateway")?.protocol ?? upstreamProtocol;
      return linkOf(
        { from: "gateway", to: id, fromProtocol: callerProtocol, toProtocol: upstreamProtocol },
        all.filter((count) => count.from === "gateway" && count.to === id),
      );
    }),
  );
  return [...inbound, ...outbound];
}

type LinkEnds = Pick<LinkState, "from" | "to" | "fromProtocol" | "toProtocol">;

function linkOf(ends: LinkEnds, counted: LinkCounts["all"]): LinkState {
  const sum = (member: "messages" | "failures"): number => counted.reduce((total, each) => total + each[member], 0);
  return {
    ...ends,
    bridged: ends.fromProtocol !== ends.toProtocol,
    features: [],
    messages: sum("messages"),
    failures: sum("failures"),
    latencies: counted.flatMap(({ latencies }) => latencies),
  };
}

function breakerOf({ id, policies }: UpstreamMonitor, observations: Observations, startedAt: number): readonly BreakerState[] {
  const snapshot = policies.breaker?.state();
  if (snapshot === undefined) return [];
  const change = observations.circuits.get(id);
  return [{ destination: id, state: snapshot.state, since: change?.at ?? startedAt, because: change?.because ?? "no failures" }];
}

function queueOf({ id, policies, connectionQueue }: UpstreamMonitor, observations: Observations): readonly QueueState[] {
  const bulkhead = policies.bulkhead?.state().waiting;
  const waiting = observations.queues.get(`${id} connections`);
  return [
    ...(bulkhead === undefined
      ? []
      : [{ name: id, depth: bulkhead, limit: policies.bulkheadLimit, history: observations.queues.get(`${id} bulkhead`) ?? [] }]),
    // There from the first call that had to wait.
    ...(waiting === undefined
      ? []
      : [{ name: `${id} connections`, depth: waiting.at(-1) ?? 0, limit: connectionQueue, history: waiting }]),
  ];
}
