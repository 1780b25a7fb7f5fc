import type { Interface, Maybe, Store } from "../../src/index.js";
import type { CaptureLog } from "../../src/public/inspect.js";
import type { BreakerState, Console, LinkState, NetworkState, NodeState, QueueState } from "../dashboard/index.js";
import type { AgentSupervisor } from "./agent-supervisor.js";
import { LinkCounts } from "./link-counts.js";
import type { Observations, RecentCaller } from "./observations.js";
import type { OwnCaller } from "./own-caller.js";
import { sendFromPage } from "./page-send.js";
import { keptTasks, taskEvents } from "./page-tasks.js";
import { spokenBy } from "./status.js";
import type { UpstreamMonitor } from "./upstream-monitor.js";

/** Who has not called for this long is no longer on the map. */
const CALLER_MS = 600_000;
const CALLERS_SHOWN = 20;

export interface ConsoleParts {
  readonly seen: Observations;
  readonly log: Maybe<CaptureLog>;
  readonly store: Store;
  readonly startedAt: number;
  keepers(): readonly AgentSupervisor[];
  interfaces(agent: string): readonly Interface[];
  readonly own: OwnCaller;
  /** Where this machine reaches the gateway. */
  home(): string;
  readonly secure: boolean;
  now(): number;
}

export interface GatewayConsole extends Console {
  /** Stops looking, and ends what pages look at. */
  close(): void;
}

/** The gateway as its page shows it: read from what runs, nothing is remembered twice. */
export function createConsole(parts: ConsoleParts): GatewayConsole {
  const { seen, log, keepers } = parts;
  const counts = log && new LinkCounts(log, () => seen.changed());
  const ending = new AbortController();
  const upstreams = (): readonly UpstreamMonitor[] => keepers().flatMap((keeper) => keeper.upstreams);
  return {
    sightings: log ?? NOTHING_SEEN,
    ending: ending.signal,
    onChange: (run) => seen.onChange(run),
    state: (): NetworkState => {
      const callers = lately(seen.callers, parts.now());
      return {
        title: "gateway",
        startedAt: parts.startedAt,
        nodes: [gatewayNode(parts), ...keepers().flatMap(agentNodes), ...callers.map(callerNode)],
        links: linksOf(keepers(), counts, callers),
        breakers: upstreams().flatMap((upstream) => breakerOf(upstream, seen, parts.startedAt)),
        queues: upstreams().flatMap((upstream) => queueOf(upstream, seen)),
        decisions: [],
        happenings: seen.happenings,
        counters: { ...seen.counters, messages: log?.size ?? 0 },
      };
    },
    tasks: (limit) => keptTasks(parts.store, seen.callers, limit),
    taskEvents: (id) => taskEvents(parts.store, seen.callers, id),
    ways: (node) => waysTo(node, parts),
    send: (message, signal) => sendFromPage(message, waysTo(message.node, parts), parts, signal),
    close() {
      ending.abort();
      counts?.close();
    },
  };
}

/** For a gateway without an inspector, whose page is not served. */
const NOTHING_SEEN: CaptureLog = {
  list: () => [],
  get: () => undefined,
  trace: () => [],
  async *follow() {
    // Nothing is seen, so nothing comes.
  },
  size: 0,
  forgotten: 0,
};

/** A node is called by the name of its agent, whichever of its upstreams it is. */
function waysTo(node: string, { keepers, interfaces }: ConsoleParts): readonly Interface[] {
  const keeper = keepers().find(({ name, upstreams }) => name === node || upstreams.some(({ id }) => id === node));
  return keeper === undefined ? [] : interfaces(keeper.name);
}

function gatewayNode({ keepers, interfaces }: ConsoleParts): NodeState {
  const [first] = keepers();
  const ways = first === undefined ? [] : interfaces(first.name);
  return {
    id: "gateway",
    title: "gateway",
    kind: "gateway",
    speaks: ways.map(({ protocol, version, binding }) => `${protocol}@${version}/${binding}`),
    url: undefined,
    health: "up",
    note: `stands in front of ${keepers().length} ${keepers().length === 1 ? "agent" : "agents"}`,
    actions: [],
  };
}

function agentNodes({ upstreams, problem, config }: AgentSupervisor): readonly NodeState[] {
  return upstreams.map(({ id, config: { url }, health, problem: own, remote, card }) => ({
    id,
    title: id,
    kind: "agent",
    speaks: [spokenBy(remote)].filter((way) => way !== undefined),
    url,
    health,
    note: own?.message ?? problem?.message ?? card?.description ?? config.mode,
    actions: [],
  }));
}

function lately(callers: readonly RecentCaller[], nowMs: number): readonly RecentCaller[] {
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
    note: "called lately",
    actions: [],
  };
}

/** Everybody who called to the gateway, and the gateway to every upstream. */
function linksOf(
  keepers: readonly AgentSupervisor[],
  counts: Maybe<LinkCounts>,
  callers: readonly RecentCaller[],
): readonly LinkState[] {
  const all = counts?.all ?? [];
  const shown = new Set(callers.map(({ id }) => `caller:${id}`));
  const inward = [...shown].flatMap((from): readonly LinkState[] => {
    const own = all.filter((count) => count.from === from);
    const [first] = own;
    if (first === undefined) return [];
    return [linkOf({ from, to: "gateway", fromProtocol: first.protocol, toProtocol: first.protocol }, own)];
  });
  const outward = keepers.flatMap(({ name, upstreams }) =>
    upstreams.map(({ id, remote }) => {
      const spoken = remote?.protocol ?? "";
      const asked = all.find((count) => count.to === name && count.from !== "gateway")?.protocol ?? spoken;
      return linkOf(
        { from: "gateway", to: id, fromProtocol: asked, toProtocol: spoken },
        all.filter((count) => count.from === "gateway" && count.to === id),
      );
    }),
  );
  return [...inward, ...outward];
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

function breakerOf({ id, policies }: UpstreamMonitor, seen: Observations, startedAt: number): readonly BreakerState[] {
  const snapshot = policies.breaker?.state();
  if (snapshot === undefined) return [];
  const change = seen.circuits.get(id);
  return [
    { destination: id, state: snapshot.state, since: change?.at ?? startedAt, because: change?.because ?? "nothing has failed" },
  ];
}

function queueOf({ id, policies }: UpstreamMonitor, seen: Observations): readonly QueueState[] {
  const depth = policies.bulkhead?.state().waiting;
  if (depth === undefined) return [];
  const history = seen.queues.get(`${id} bulkhead`) ?? [];
  return [{ name: id, depth, limit: policies.bulkheadLimit, history }];
}
