import type { Settings } from "../result/index.js";
import { CALLER, edgeBetween } from "../result/witness.js";

/** A directed edge: who calls whom. Each has a proxy of its own. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly name: string;
}

/** From the caller to every agent, and between agents where they call each other. */
export function edgesOf(agents: readonly string[], topology: Settings["topology"]): readonly Edge[] {
  const callers = topology === "mesh" ? [CALLER, ...agents] : [CALLER];
  return callers.flatMap((from) => agents.filter((to) => to !== from).map((to) => ({ from, to, name: edgeBetween(from, to) })));
}
