import { type Case, type LabelledModule, withoutAnswers, withoutLabel } from "./case.js";
import type { Answer, Entry, RunTools } from "./entry.js";
import type { Plan } from "./plan.js";
import { AgentError, type Decision, type Features, type OpinionAnswer, type RouterSettings } from "./router.js";

/** More would only queue at most servers, and four already hide the network latency. */
const MODEL_CALLS_AT_ONCE = 4;

interface Question {
  readonly of: Case;
  readonly module: LabelledModule;
}

/** Sends every module to the model, a few concurrently; the entries keep the order of the cases. */
export async function askModel(
  plan: Plan,
  cases: readonly Case[],
  routing: RouterSettings,
  tools: RunTools,
): Promise<readonly Entry[]> {
  const questions = cases.flatMap((of): readonly Question[] => of.modules.map((module) => ({ of, module })));
  const entries: Entry[] = [];
  let next = 0;
  let done = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < questions.length; index = next++) {
      if (tools.cancel.reason !== undefined) throw tools.cancel.reason;
      const question = questions[index];
      if (question === undefined) return;
      entries[index] = { ...question, answer: await ask(question, routing, tools) };
      tools.onProgress?.(plan.name, ++done, questions.length);
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(MODEL_CALLS_AT_ONCE, questions.length) }, work));
  } finally {
    // Where one fails, the others ask nothing more.
    next = questions.length;
  }
  return entries;
}

async function ask({ of, module }: Question, routing: RouterSettings, tools: RunTools): Promise<Answer> {
  const { engine, opinion, cancel } = tools;
  if (opinion === undefined) throw new AgentError("internal", "the mode `model` runs without a model");
  const scenario = withoutAnswers(of.scenario);
  const asked = withoutLabel(module);
  const feasible = engine.feasible(scenario, asked, routing);
  if (feasible.length === 0) return { kind: "decision", decision: unanswerable(of.scenario.id, module.id, engine.candidates) };
  const input = asked.passages.map(({ text }) => text);
  const answer = await opinion.about({ scenario, module: asked, input, feasible }, cancel);
  // An answer after a cancel says nothing about the model.
  if (cancel.reason !== undefined) throw cancel.reason;
  return answerOf(answer, { scenario: of.scenario.id, module: module.id, candidates: engine.candidates, feasible });
}

interface Asked {
  readonly scenario: string;
  readonly module: string;
  readonly candidates: readonly Features[];
  readonly feasible: readonly Features[];
}

const RULED_OUT = "a hard constraint rules it out";

function answerOf(answer: OpinionAnswer, { scenario, module, candidates, feasible }: Asked): Answer {
  if (answer.kind === "none") return { kind: "none", because: answer.because };
  const { protocol, evidence_spans, rationale, prompt_sha256 } = answer.opinion;
  if (!feasible.some(({ name }) => name === protocol))
    return { kind: "none", because: "the model chose what a hard constraint rules out" };
  const others = candidates.filter(({ name }) => name !== protocol);
  const decision: Decision = {
    scenario_id: scenario,
    module_id: module,
    selected_protocol: protocol,
    evidence_spans,
    rationale,
    margin: 0,
    abstained: false,
    rejected: others.map((row) => ({
      protocol: row.name,
      because: feasible.includes(row) ? "the model preferred another" : RULED_OUT,
    })),
    prompt_sha256,
  };
  return { kind: "decision", decision };
}

/** Nothing is feasible, so there is nothing to ask: an abstention, as the router's own would be. */
function unanswerable(scenario: string, module: string, candidates: readonly Features[]): Decision {
  return {
    scenario_id: scenario,
    module_id: module,
    selected_protocol: null,
    evidence_spans: [],
    rationale: "No candidate meets every hard constraint.",
    margin: 0,
    abstained: true,
    rejected: candidates.map(({ name }) => ({ protocol: name, because: RULED_OUT })),
  };
}
