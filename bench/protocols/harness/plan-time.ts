import type { ModelSettings } from "../models/settings.js";
import type { Condition, Plan } from "../result/index.js";
import { AFTER_SHARE } from "./run.js";

const MS_PER_S = 1_000;
/** What a run takes beside its windows, on two cores: processes start, and are ended. */
const RUN_MS = 1_000;
const PROCESS_MS = 200;
/** Caller and proxies. */
const OTHER_PROCESSES = 2;
/** Until a killed process works again. */
const RESTART_MS = 1_000;
/** Above 32 agents, eight processes share them. */
const MOST_PROCESSES = 32;

/** How long a plan takes on a machine that does nothing else; undefined where only the first runs can tell. */
export function plannedMs({ settings, conditions, runs }: Plan, model: ModelSettings): number | undefined {
  const each = new Map<string, number | undefined>(
    conditions.map((condition) => [condition.id, windowMs(condition, settings, model)]),
  );
  let sum = 0;
  for (const { condition: id } of runs) {
    const window = each.get(id);
    if (window === undefined) return undefined;
    const { agents = settings.agents } = conditions.find((condition) => condition.id === id) ?? {};
    sum += RUN_MS + (Math.min(agents, MOST_PROCESSES) + OTHER_PROCESSES) * PROCESS_MS + settings.warmUpMs + window;
  }
  return sum;
}

function windowMs(
  condition: Condition,
  { requests, measureMs, agents }: Plan["settings"],
  model: ModelSettings,
): number | undefined {
  const { faults, load, recovery, coordinator, serviceMs } = condition;
  // With faults only the time limits a window.
  if (recovery !== undefined) {
    const last = Math.max(0, ...faults.map(({ atMs, forMs }) => atMs + forMs));
    return Math.max(measureMs, last + RESTART_MS + AFTER_SHARE * measureMs);
  }
  if (faults.length > 0) return measureMs;
  if (load.loop === "open") return Math.min(measureMs, (requests / load.perSecond) * MS_PER_S);
  if (model.kind !== "scripted") return undefined;
  const atOnce = Math.min(load.clients, condition.agents ?? agents);
  const downMs = coordinator === undefined ? 0 : coordinator.downForMs + RESTART_MS;
  return Math.min(measureMs, (requests * (serviceMs ?? model.meanMs)) / atOnce + downMs);
}
