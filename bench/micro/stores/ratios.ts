import type { RatioDefinition } from "../../harness/conclude.js";
import type { Titles } from "../../harness/report.js";

const tasks = { section: "tasks", over: "memory", metric: "perSecond" } as const;
/** Of CPU times memory's is divided by the store's: how many tasks fit in the time that memory needs for one. */
const cpu = { section: "tasks", of: "memory", metric: "cpuUs" } as const;

/** Every store against memory in the same run. */
export const RATIOS: readonly RatioDefinition[] = [
  // Memory is the floor here.
  { key: "floor_vs_floor", ...cpu, over: "memory again" },
  { key: "sqlite_cpu_vs_memory", ...cpu, over: "sqlite normal", target: { atLeast: 0.6 } },
  { key: "redis_cpu_vs_memory", ...cpu, over: "redis everysec", target: { atLeast: 0.45 } },
  { key: "sqlite_vs_memory", of: "sqlite normal", ...tasks, target: { atLeast: 0.6 } },
  { key: "sqlite_full_vs_memory", of: "sqlite full", ...tasks },
  { key: "redis_vs_memory", of: "redis everysec", ...tasks, target: { atLeast: 0.45 } },
  { key: "redis_always_vs_memory", of: "redis always", ...tasks },
  { key: "sqlite_resume_vs_memory", section: "resume", of: "sqlite normal", over: "memory", metric: "resumeUs" },
  { key: "redis_resume_vs_memory", section: "resume", of: "redis everysec", over: "memory", metric: "resumeUs" },
];
export const TARGETS = ["sqlite_cpu_vs_memory", "redis_cpu_vs_memory", "sqlite_vs_memory", "redis_vs_memory"] as const;

export const TITLES: Titles = {
  tasks: "Sends that make a task of four events, over HTTP, 64 in flight",
  resume: "The rest of a finished stream, ten of twenty events, from its cursor",
};
