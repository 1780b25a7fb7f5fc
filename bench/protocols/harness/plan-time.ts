import type { ModelSettings } from "../models/settings.js";
import type { Arm, Condition, Plan } from "../result/index.js";
import { placeAgents, warmUpMsOf } from "./plan-runs.js";
import { AFTER_SHARE, plannedWindow } from "./run.js";

const MS_PER_S = 1_000;
/** What a run takes beside its windows, on two cores: processes start, and are ended. */
const RUN_MS = 1_000;
const PROCESS_MS = 300;
/** Caller and proxies. */
const OTHER_PROCESSES = 2;
/** Until a killed process works again. */
const RESTART_MS = 2_000;

/** How long a plan takes on a machine that does nothing else; undefined where only the first runs can tell. */
export function plannedMs({ settings, arms, conditions, runs }: Plan, model: ModelSettings): number | undefined {
  let sum = 0;
  for (const run of runs) {
    const arm = arms.find(({ id }) => id === run.arm);
    const condition = conditions.find(({ id }) => id === run.condition);
    if (arm === undefined || condition === undefined)
      throw new Error(`the plan of ${run.run} names no arm or condition of its own`);
    const window = windowMs(arm, condition, settings, model);
    if (window === undefined) return undefined;
    const { agents = settings.agents } = condition;
    const startMs = RUN_MS + (placeAgents(agents).length + OTHER_PROCESSES) * PROCESS_MS;
    sum += startMs + warmUpMsOf(settings, condition) + window;
  }
  return sum;
}

function windowMs(arm: Arm, condition: Condition, settings: Plan["settings"], model: ModelSettings): number | undefined {
  const { requests, agents, perWorker = 1 } = settings;
  const { load, recovery, coordinator, serviceMs } = condition;
  const { faults, isStorm, measureMs } = plannedWindow({ arm, condition, settings });
  // With faults only the time limits a window.
  if (isStorm) {
    const last = Math.max(0, ...faults.map(({ atMs, forMs }) => atMs + forMs));
    return Math.max(measureMs, last + RESTART_MS + AFTER_SHARE * measureMs);
  }
  if (faults.length > 0 || recovery !== undefined) return measureMs;
  if (load.loop === "open") return Math.min(measureMs, (requests / load.perSecond) * MS_PER_S);
  if (model.kind !== "scripted") return undefined;
  const atOnce = Math.min(load.clients, (condition.agents ?? agents) * perWorker);
  const downMs = coordinator === undefined ? 0 : coordinator.downForMs + RESTART_MS;
  return Math.min(measureMs, (requests * (serviceMs ?? model.meanMs)) / atOnce + downMs);
}
