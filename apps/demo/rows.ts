import type { Demo } from "./demo.js";

/** One agent of the demo, in figures. */
export interface AgentRow {
  readonly id: string;
  /** As the router decided. */
  readonly protocol: string;
  /** What it really speaks. Empty where nothing here speaks it. */
  readonly way: string;
  readonly url: string;
  /** `missing` where nothing here speaks its protocol. */
  readonly health: "up" | "starting" | "down" | "unknown" | "missing";
  readonly pid: number | undefined;
  readonly restarts: number;
  readonly problem: string | undefined;
  /** Through the gateway, whoever sent them. */
  readonly messages: number;
  readonly failures: number;
  /** Of the last answers, in milliseconds; undefined before the first. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  /** What was said to it last. */
  readonly last: string;
}

/** Calls among which the last message is looked for: most of the others ask about tasks. */
const LATELY = 20;

/** All agents, those that cannot be had included, in the order of the scenario. */
export function agentRows({ network, gateway }: Pick<Demo, "network" | "gateway">): readonly AgentRow[] {
  const { nodes, links } = gateway.console.state();
  return network.nodes().map(({ id, protocol, pin, url, pid, restarts, problem }): AgentRow => {
    const node = nodes.find((each) => each.id === id);
    const link = links.find(({ from, to }) => from === "gateway" && to === id);
    const sorted = (link?.latencies ?? []).toSorted((a, b) => a - b);
    const lately = gateway.console.sightings.list({ agent: id, direction: "out" }, LATELY);
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
      last: lately.find(({ operation }) => operation === "send")?.text ?? "",
    };
  });
}

/** The smallest that at least this share does not exceed. */
function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
