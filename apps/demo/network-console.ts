import type { LinkFeature } from "../../src/public/network.js";
import type { Console, LinkState, NodeState } from "../dashboard/index.js";
import type { LaunchedNetwork, NodeStatus } from "../up/index.js";
import type { ChainCounts } from "./chain-counts.js";
import type { DemoPlan } from "./plan.js";
import type { ProcessEvents } from "./process-events.js";
import { sceneOf } from "./scenes.js";
import { type SealedAgents, VAULT } from "./sealed-agents.js";
import type { Traffic, VisitorCount } from "./traffic.js";

export interface NetworkConsoleParts {
  readonly demoPlan: DemoPlan;
  readonly network: LaunchedNetwork;
  readonly traffic: Traffic;
  readonly chains: ChainCounts;
  readonly processEvents: ProcessEvents;
  readonly sealed: SealedAgents;
}

type FlipParts = Pick<NetworkConsoleParts, "sealed" | "traffic" | "processEvents">;

/** Visitors without an identity are anonymous to the gateway. The visitors replace this node, and that of the insurer's DID. */
const ANONYMOUS = "caller:anonymous";

/** Extends the gateway's console with processes, decisions, visitors and missing agents. */
export function networkConsole(own: Console, parts: NetworkConsoleParts): Console {
  const { demoPlan, network, traffic, chains, processEvents, sealed } = parts;
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
      const replaced = [ANONYMOUS, `caller:${sealed.insurerDid}`];
      const statuses = new Map(network.nodes().map((status) => [status.id, status]));
      const missing = [...statuses.values()].filter((status) => status.state === "unspoken");
      return {
        ...state,
        title: "harbour",
        nodes: [
          ...state.nodes
            .filter(({ id }) => !replaced.includes(id))
            .map((node) => (node.id === VAULT ? sealedNode(node, sealed) : withProcess(node, statuses.get(node.id)))),
          ...missing.map(missingNode),
          ...traffic.counts.map(visitorNode),
        ],
        links: [
          ...state.links.filter(({ from }) => !replaced.includes(from)).map((link) => withFeatures(link, demoPlan)),
          ...traffic.counts.map(visitorLink),
          ...chains.all.map(({ from, protocol, ...counted }) => linkToGateway(from, protocol, counted)),
        ],
        decisions: demoPlan.decisions,
        happenings: [...state.happenings, ...processEvents.all].toSorted((a, b) => a.at - b.at),
      };
    },
    async act(node, action) {
      if (action === "flip") return flipByte(parts);
      if (action === "kill") network.kill(node);
      else await network.restart(node);
      return undefined;
    },
  };
}

function withProcess(node: NodeState, status: NodeStatus | undefined): NodeState {
  if (status === undefined) return node;
  const { state, pin, pid, restarts, problem } = status;
  const isAway = state !== "ready" && state !== "unhealthy";
  return {
    ...node,
    speaks: node.speaks.length === 0 ? [pin] : node.speaks,
    // The supervisor detects the end of a process before a health check does.
    health: !isAway ? node.health : state === "gave-up" || state === "stopped" ? "down" : "starting",
    note: problem ?? node.note,
    pid,
    restarts,
    actions: state === "gave-up" ? ["restart"] : isAway ? [] : ["kill", "restart"],
  };
}

function sealedNode(node: NodeState, { registry }: SealedAgents): NodeState {
  return { ...node, note: `${node.note}. Its DID is in ${registry}.`, actions: node.health === "up" ? ["flip"] : [] };
}

/** A byte of a sealed message is changed on its way: what became of it, for the page and its events. */
export async function flipByte({ sealed, traffic, processEvents }: FlipParts): Promise<string> {
  const { byte, reason, told } = await sealed.flip(async (begin) => {
    const { error } = await traffic.play(sceneOf("policy"), undefined, begin);
    if (error !== undefined) throw error;
  });
  const { at, bytes, from, to } = byte;
  const says = `Byte ${at} of ${bytes} was changed from ${from} to ${to} between the gateway and ${VAULT}. ${VAULT}: ${reason}. The caller was told: ${told}`;
  processEvents.add({ kind: "refused", subject: VAULT, says });
  return says;
}

function missingNode({ id, protocol, problem }: NodeStatus): NodeState {
  return {
    id,
    title: id,
    kind: "missing",
    speaks: [protocol],
    url: undefined,
    health: "unknown",
    note: `${problem ?? "not available"}; the agent starts once the protocol is registered`,
    actions: [],
  };
}

function visitorNode({ visitor, pin, messages }: VisitorCount): NodeState {
  return {
    id: visitorId(visitor),
    title: visitor,
    kind: "caller",
    speaks: [pin],
    url: undefined,
    health: "unknown",
    note: `sent ${messages} messages`,
    actions: [],
  };
}

function visitorLink({ visitor, pin, ...counted }: VisitorCount): LinkState {
  return linkToGateway(visitorId(visitor), pin.split("@", 1)[0] ?? pin, counted);
}

const visitorId = (visitor: string): string => `caller:${visitor}`;

type Counted = Pick<LinkState, "messages" | "failures" | "latencies">;

function linkToGateway(from: string, protocol: string, { messages, failures, latencies }: Counted): LinkState {
  const ends = { from, to: "gateway", fromProtocol: protocol, toProtocol: protocol, bridged: false };
  return { ...ends, features: [], messages, failures, latencies };
}

/** Adds the features of the agent's protocol from the plan. */
function withFeatures(link: LinkState, { plan }: DemoPlan): LinkState {
  const node = plan.network.nodes.find(({ id }) => id === link.to);
  return node === undefined ? link : { ...link, features: node.features.map(featureOf) };
}

function featureOf({ name, on, primitive, because }: LinkFeature): LinkState["features"][number] {
  return { name, on, by: on ? primitive : because };
}
