import type { BenchModel } from "../../models/settings.js";
import { fillPrompt } from "../../prompts/prompts.js";
import type { PlannedQuestion } from "../plan/planned-question.js";
import { networkLog } from "./network-log.js";
import type { Memory } from "./step-memory.js";

const MS_PER_NS = 1e-6;

/** What a team did, in a few sentences, by rule. */
export function summariseByRule({ text, team }: PlannedQuestion, memory: Memory): string {
  const { steps, messages, answer } = memory;
  const completed = steps.filter(({ status }) => status === "completed");
  const failed = steps.filter(({ status }) => status === "failed");
  const missing = team.agents
    .flatMap((agent) => agent.steps.map(({ step }) => ({ step, name: agent.name })))
    .filter(({ step }) => !steps.some((each) => each.step === step));
  const facts = messages
    .filter(({ delivery, fact }) => delivery === "delivered" && fact !== "start")
    .map(
      ({ from, fact, value }) =>
        `${fact} ${[value].flat().join(", ")} (${team.agents.find(({ id }) => id === from)?.name ?? from})`,
    );
  const [first, last] = [steps[0]?.timestamps.started_ns, steps.at(-1)?.timestamps.ended_ns];
  const took = first === undefined || last === undefined ? "" : ` in ${((last - first) * MS_PER_NS).toFixed(1)} ms`;
  return [
    `Asked: ${text}`,
    `Answer: ${answer ?? "none"}.`,
    `${completed.length} of ${team.estimated_steps} steps were completed${took}${facts.length === 0 ? "" : `: ${facts.join("; ")}`}.`,
    ...(failed.length === 0
      ? []
      : [`Failed: ${failed.map(({ agent_name, step }) => `${agent_name} (step ${step})`).join(", ")}.`]),
    ...(missing.length === 0 ? [] : [`Not taken: ${missing.map(({ name, step }) => `${name} (step ${step})`).join(", ")}.`]),
  ].join(" ");
}

export const SUMMARISER_PROMPT = "docqa-summariser.v1";

/** The same by a model, which reads the whole log. */
export async function summariseByModel(
  question: PlannedQuestion,
  memory: Memory,
  { model, signal }: { readonly model: Pick<BenchModel, "answer">; readonly signal: AbortSignal },
): Promise<string> {
  const values = { question: question.text, answer: memory.answer ?? "none", log: networkLog(memory) };
  return (await model.answer(fillPrompt(SUMMARISER_PROMPT, values), signal)).trim();
}
