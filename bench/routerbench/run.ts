import { setImmediate } from "node:timers/promises";
import { type Case, withoutAnswers } from "./case.js";
import type { Answer, Engine, Entry, Run, RunTools } from "./entry.js";
import { askModel } from "./model-run.js";
import type { BenchSettings, Plan } from "./plan.js";
import { AgentError, type Cancel, type Decision, type RouterSettings, type Scenario } from "./router.js";

/** The router is synchronous: without a pause Ctrl-C would not be handled. */
const PAUSE_EVERY = 32;

/** One run over all cases. Throws when cancelled; an error in one scenario is an answer of kind `none`. */
export async function runPlan(plan: Plan, cases: readonly Case[], settings: BenchSettings, tools: RunTools): Promise<Run> {
  const routing = routingOf(plan, settings, tools);
  if (plan.mode === "model") return { plan, entries: await askModel(plan, cases, routing, tools) };
  const entries: Entry[] = [];
  for (const [index, each] of cases.entries()) {
    if (index % PAUSE_EVERY === 0) await setImmediate();
    if (tools.cancel.reason !== undefined) throw tools.cancel.reason;
    entries.push(...(await routeCase(each, routing, tools)));
    tools.onProgress?.(plan.name, index + 1, cases.length);
  }
  return { plan, entries };
}

function routingOf({ mode, without }: Plan, { embeddings, ranking }: BenchSettings, tools: RunTools): RouterSettings {
  return {
    candidates: tools.engine.candidates,
    abstain: { kind: "ask" },
    without,
    ...(embeddings ? { embedder: tools.embedder } : {}),
    ...(mode === "spec+perf" ? { ranking } : {}),
  };
}

async function routeCase(each: Case, routing: RouterSettings, { engine, cancel }: RunTools): Promise<readonly Entry[]> {
  const names = engine.candidates.map(({ name }) => name);
  const said = await decisionsFor(withoutAnswers(each.scenario), routing, engine, cancel);
  return each.modules.map((module) => ({
    of: each,
    module,
    answer: "kind" in said ? said : recordOf(each.scenario.id, module.id, said, names),
  }));
}

type NoAnswer = Extract<Answer, { kind: "none" }>;

async function decisionsFor(
  scenario: Scenario,
  routing: RouterSettings,
  engine: Engine,
  cancel: Cancel,
): Promise<readonly Decision[] | NoAnswer> {
  try {
    return (await engine.route(scenario, routing, cancel)).decisions;
  } catch (thrown) {
    // A refusal is about this scenario; anything else is a defect and must be seen.
    if (cancel.cancelled || !(thrown instanceof AgentError)) throw thrown;
    return { kind: "none", because: thrown.message };
  }
}

/** The one well-formed record about a module. Absent, double or malformed ones are not repaired. */
function recordOf(scenarioId: string, moduleId: string, decisions: readonly Decision[], names: readonly string[]): Answer {
  const found = decisions.filter(({ scenario_id, module_id }) => scenario_id === scenarioId && module_id === moduleId);
  const [decision] = found;
  if (decision === undefined || found.length > 1)
    return { kind: "none", because: `there are ${found.length} records about module ${moduleId}` };
  const flaw = flawOf(decision, names);
  return flaw === undefined ? { kind: "decision", decision } : { kind: "none", because: `the record about ${moduleId} ${flaw}` };
}

function flawOf({ selected_protocol: chosen, margin }: Decision, names: readonly string[]): string | undefined {
  if (chosen !== null && !names.includes(chosen)) return "chooses what is not a candidate";
  if (!(margin >= 0 && margin <= 1)) return "has a margin outside 0 and 1";
  return undefined;
}
