import type { LinkFeature } from "../../src/public/network.js";
import type { Console, LinkState, NodeState } from "../dashboard/index.js";
import type { Launched, NodeStatus } from "../up/index.js";
import type { ChainCounts } from "./chain-counts.js";
import type { Harbour } from "./plan.js";
import type { ProcessNews } from "./process-news.js";
import type { Traffic, VisitorCount } from "./traffic.js";

export interface NetworkConsoleParts {
  readonly harbour: Harbour;
  readonly network: Launched;
  readonly traffic: Traffic;
  readonly chains: ChainCounts;
  readonly news: ProcessNews;
}

/** The gateway knows its callers by what they show, and here nobody has to show anything: our visitors take the place of this one. */
const NOBODY = "caller:anonymous";

/** What the page shows of the gateway, with what only the demo knows: processes, decisions, visitors, and who is missing. */
export function networkConsole(own: Console, parts: NetworkConsoleParts): Console {
  const { harbour, network, traffic, chains, news } = parts;
  return {
    ...own,
    onChange(run) {
      const ends = [own.onChange(run), network.onChange(run), traffic.onChange(run)];
      return () => {
        for (const end of ends) end();
      };
    },
    state() {
      const state = own.state();
      const statuses = new Map(network.nodes().map((status) => [status.id, status]));
      const missing = [...statuses.values()].filter((status) => status.state === "unspoken");
      return {
        ...state,
        title: "harbour",
        nodes: [
          ...state.nodes.filter(({ id }) => id !== NOBODY).map((node) => withProcess(node, statuses.get(node.id))),
          ...missing.map(missingNode),
          ...traffic.counts.map(visitorNode),
        ],
        links: [
          ...state.links.filter(({ from }) => from !== NOBODY).map((link) => withFeatures(link, harbour)),
          ...traffic.counts.map(visitorLink),
          ...chains.all.map(({ from, protocol, ...counted }) => linkToGateway(from, protocol, counted)),
        ],
        decisions: harbour.decisions,
        happenings: [...state.happenings, ...news.all].toSorted((a, b) => a.at - b.at),
      };
    },
    async act(node, action) {
      if (action === "kill") network.kill(node);
      else await network.restart(node);
    },
  };
}

function withProcess(node: NodeState, status: NodeStatus | undefined): NodeState {
  if (status === undefined) return node;
  const { state, pin, pid, restarts, problem } = status;
  const away = state !== "ready" && state !== "unhealthy";
  return {
    ...node,
    speaks: node.speaks.length === 0 ? [pin] : node.speaks,
    // The keeper of a process knows of its end before anybody who calls it does.
    health: !away ? node.health : state === "gave-up" || state === "stopped" ? "down" : "starting",
    note: problem ?? node.note,
    pid,
    restarts,
    actions: state === "gave-up" ? ["restart"] : away ? [] : ["kill", "restart"],
  };
}

function missingNode({ id, protocol, problem }: NodeStatus): NodeState {
  return {
    id,
    title: id,
    kind: "missing",
    speaks: [protocol],
    url: undefined,
    health: "unknown",
    note: `${problem ?? "cannot be had"}; nothing stands in for it, and it joins as soon as that is`,
    actions: [],
  };
}

function visitorNode({ visitor, way, messages }: VisitorCount): NodeState {
  return {
    id: visitorId(visitor),
    title: visitor,
    kind: "caller",
    speaks: [way],
    url: undefined,
    health: "unknown",
    note: `has sent ${messages} messages`,
    actions: [],
  };
}

function visitorLink({ visitor, way, ...counted }: VisitorCount): LinkState {
  return linkToGateway(visitorId(visitor), way.split("@", 1)[0] ?? way, counted);
}

const visitorId = (visitor: string): string => `caller:${visitor}`;

type Counted = Pick<LinkState, "messages" | "failures" | "latencies">;

function linkToGateway(from: string, protocol: string, { messages, failures, latencies }: Counted): LinkState {
  const ends = { from, to: "gateway", fromProtocol: protocol, toProtocol: protocol, bridged: false };
  return { ...ends, features: [], messages, failures, latencies };
}

/** What the protocol of the agent brings, as the plan says it. */
function withFeatures(link: LinkState, { plan }: Harbour): LinkState {
  const node = plan.network.nodes.find(({ id }) => id === link.to);
  return node === undefined ? link : { ...link, features: node.features.map(featureOf) };
}

function featureOf({ name, on, primitive, because }: LinkFeature): LinkState["features"][number] {
  return { name, on, by: on ? primitive : because };
}
