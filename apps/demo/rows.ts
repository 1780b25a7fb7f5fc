import type { Demo } from "./demo.js";

/** Figures of one demo agent. */
export interface AgentRow {
  readonly id: string;
  /** Protocol selected by the router. */
  readonly protocol: string;
  /** Its interface; empty if its protocol is not registered. */
  readonly way: string;
  readonly url: string;
  /** `missing` if its protocol is not registered. */
  readonly health: "up" | "starting" | "down" | "unknown" | "missing";
  readonly pid: number | undefined;
  readonly restarts: number;
  readonly problem: string | undefined;
  /** Messages through the gateway. */
  readonly messages: number;
  readonly failures: number;
  /** Recent latency in milliseconds; undefined before the first answer. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  /** Text of the last message to it. */
  readonly last: string;
}

/** Number of recent calls to search for the last message: most are task requests. */
const RECENT_CALLS = 20;

/** All agents in the order of the scenario, including missing ones. */
export function agentRows({ network, gateway }: Pick<Demo, "network" | "gateway">): readonly AgentRow[] {
  const { nodes, links } = gateway.console.state();
  return network.nodes().map(({ id, protocol, pin, url, pid, restarts, problem }): AgentRow => {
    const node = nodes.find((each) => each.id === id);
    const link = links.find(({ from, to }) => from === "gateway" && to === id);
    const sorted = (link?.latencies ?? []).toSorted((a, b) => a - b);
    const recent = gateway.console.messages.list({ agent: id, direction: "out" }, RECENT_CALLS);
    return {
      id,
      protocol,
      way: pin,
      url: pin === "" ? "" : url,
      health: node === undefined || node.kind === "missing" ? "missing" : node.health,
      pid,
      restarts,
      problem,
      messages: link?.messages ?? 0,
      failures: link?.failures ?? 0,
      p50: percentile(sorted, 0.5),
      p95: percentile(sorted, 0.95),
      last: recent.find(({ operation }) => operation === "send")?.text ?? "",
    };
  });
}

/** Nearest-rank percentile. */
function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
