import { cpus, loadavg } from "node:os";
import type { Machine } from "../result.js";
import type { Cores } from "./processes.js";

/** Where a run took place. */
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
