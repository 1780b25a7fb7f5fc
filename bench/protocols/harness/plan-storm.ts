import { scheduleFaults } from "../faults/schedule.js";
import type { Condition, PlannedFault, RECOVERIES } from "../result/plan.js";
import { edgeBetween } from "../result/witness.js";
import { edgesOf } from "./edges.js";
import { placeAgents } from "./plan-runs.js";

/** What hits the victims of a storm. */
type StormKind = "kill" | "stop" | "listener" | "partition" | "link";

export interface StormChoice {
  readonly kind: StormKind;
  readonly agents: number;
  /** ρ: the share of the agents, or of the links, that each cycle hits. */
  readonly fraction: number;
  readonly everyMs: number;
  /** D_f: how long each is down. */
  readonly forMs: number;
  readonly untilMs: number;
  readonly recoveries: readonly (typeof RECOVERIES)[number][];
}

/** Each load under the storm, once for each way in which agents get their state back. The same storm in all. */
export function planStorm(loads: readonly Condition[], choice: StormChoice, seed: number): Condition[] {
  const faults = stormFaults(choice, seed);
  return loads.flatMap((load) =>
    choice.recoveries.map((recovery) => ({
      ...load,
      id: `${load.id} ${choice.kind} recovery-${recovery}`,
      faults: [...faults],
      recovery,
    })),
  );
}

/** The faults of all cycles. A partition cuts every edge of an agent; a link is cut in both directions. */
export function stormFaults({ kind, agents: count, ...schedule }: StormChoice, seed: number): readonly PlannedFault[] {
  const { fraction, everyMs, forMs, untilMs } = schedule;
  const agents = placeAgents(count).flat();
  const times = { fraction, everyMs, forMs, untilMs };
  if (kind !== "link" && kind !== "partition") return scheduleFaults({ kind, targets: agents, ...times }, seed);
  if (kind === "link") {
    const links = agents.map((agent, index) => edgeBetween(agent, agents[(index + 1) % agents.length] ?? agent));
    return scheduleFaults({ kind: "loss", share: 1, targets: links, ...times }, seed).flatMap((fault) => {
      const [from = "", to = ""] = fault.target.split(">");
      return [fault.target, edgeBetween(to, from)].map((target) => ({ ...fault, target, victim: fault.target }));
    });
  }
  const edges = edgesOf(agents, "mesh");
  return scheduleFaults({ kind, targets: agents, ...times }, seed).flatMap((fault) =>
    edges
      .filter(({ from, to }) => from === fault.target || to === fault.target)
      .map(({ name }) => ({ ...fault, target: name, victim: fault.target })),
  );
}
