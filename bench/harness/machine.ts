import { cpus, loadavg } from "node:os";
import type { Cores } from "./processes.js";
import type { Machine } from "./result.js";

/** Describes the machine of a run. */
export function describeMachine({ server }: Cores): Machine {
  const all = cpus();
  return {
    node: process.version,
    cpu: all[0]?.model ?? "unknown",
    cores: all.length,
    pinned: server !== undefined,
    loadBefore: loadavg()[0] ?? 0,
  };
}
