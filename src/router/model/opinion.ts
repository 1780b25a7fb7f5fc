import { AgentError, type Cancel, CancelSource, type Maybe } from "../../envelope/index.js";
import type { FunctionCallingModel, FunctionRequest, ModelAnswer } from "../models/index.js";
import type { OpenQuestion, OpinionAnswer, SecondOpinion } from "../second-opinion.js";
import { type CheckedAnswer, checkAnswer } from "./answer.js";
import { dataBlock } from "./data-block.js";
import { hashPrompt, type Prompt, type PromptVariant, SELECTION, writePrompt } from "./prompt.js";

/** Options of `modelOpinion`. */
export interface ModelOpinionOptions {
  /** The language model. */
  readonly model: FunctionCallingModel;
  /** The prompt variant. Default: `spec`. */
  readonly variant?: Maybe<PromptVariant>;
  /** The instructions, with `{{candidates}}` where the rows of the feature model go. Default: those of the variant. */
  readonly template?: Maybe<string>;
  /** The time limit for one module, over all attempts. Default: 30 s. */
  readonly timeoutMs?: Maybe<number>;
}

const TIMEOUT_MS = 30_000;
/** The longest wait a platform timer can hold; it fires at once for a longer one. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** A rejected answer may be corrected once. */
const ATTEMPTS = 2;
/** Longer modules are not sent: a model would read only a part of them. */
const DATA_CHARACTERS = 60_000;
/** The number of problems reported to the model and the user. */
const MAX_PROBLEMS = 10;

/** Asks a language model. Answers that break a hard constraint or a linter rule are rejected. */
export function modelOpinion(options: ModelOpinionOptions): SecondOpinion {
  const { model, variant = "spec", template, timeoutMs = TIMEOUT_MS } = options;
  if (template !== undefined && !template.includes("{{candidates}}"))
    throw new AgentError("invalid_message", "template: does not say where the candidates go: {{candidates}}", {
      field: "template",
      sent: "no",
    });
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS))
    throw new AgentError("invalid_message", `timeoutMs: must be above 0 and at most ${LONGEST_TIMEOUT_MS}`, {
      field: "timeoutMs",
      sent: "no",
    });
  return {
    async about(question, cancel) {
      const prompt = writePrompt(question, variant, template);
      if (prompt.user.length > DATA_CHARACTERS)
        return { kind: "none", because: `the module says more than the ${DATA_CHARACTERS} characters a model is sent` };
      const prompt_sha256 = await hashPrompt(prompt);
      try {
        const checked = await withinTime(timeoutMs, cancel, (within) => ask(model, { prompt, question }, within));
        if (checked.kind === "usable") return { kind: "opinion", opinion: { ...checked.opinion, prompt_sha256 } };
        return none(`the model's answers were refused: ${checked.problems.slice(0, MAX_PROBLEMS).join("; ")}`, prompt_sha256);
      } catch (thrown) {
        if (cancel.reason !== undefined) throw cancel.reason;
        return none(`the model gave no answer: ${AgentError.from(thrown).message}`, prompt_sha256);
      }
    },
  };
}

function none(because: string, prompt_sha256: string): OpinionAnswer {
  return { kind: "none", because, prompt_sha256 };
}

/** Asks until an answer is usable or the attempts are used up; then returns the last rejection. */
async function ask(
  model: FunctionCallingModel,
  { prompt, question }: { readonly prompt: Prompt; readonly question: OpenQuestion },
  cancel: Cancel,
): Promise<CheckedAnswer> {
  let checked: CheckedAnswer = { kind: "refused", problems: [] };
  for (let attempt = 1; attempt <= ATTEMPTS && checked.kind === "refused"; attempt++) {
    if (cancel.reason !== undefined) throw cancel.reason;
    const answer = await answerOf(model, requestFor(prompt, checked.problems), cancel);
    checked = answer === undefined ? UNREADABLE : checkAnswer(answer, question);
  }
  return checked;
}

/** Always one user message: some servers reject two in a row. Problems quote the answer, so they are escaped as data. */
function requestFor(prompt: Prompt, problems: readonly string[]): FunctionRequest {
  const { system, user } = prompt;
  const content = problems.length === 0 ? user : `${user}\n${dataBlock("refused", problems.slice(0, MAX_PROBLEMS))}`;
  return { system, messages: [{ role: "user", content }], tools: [prompt.function], toolChoice: { name: SELECTION } };
}

const UNREADABLE: CheckedAnswer = {
  kind: "refused",
  problems: [`the answer could not be read; call ${SELECTION} with one JSON object`],
};

/** Undefined for an unreadable answer: the model gets a chance to correct it. */
async function answerOf(model: FunctionCallingModel, request: FunctionRequest, cancel: Cancel): Promise<Maybe<ModelAnswer>> {
  try {
    return await model.choose(request, cancel);
  } catch (thrown) {
    const { code, facts } = AgentError.from(thrown);
    if (code === "bad_peer" && facts.status === undefined) return undefined;
    throw thrown;
  }
}

/** Enforces the time limit even if the work ignores the cancel. */
async function withinTime<T>(timeoutMs: number, cancel: Cancel, work: (within: Cancel) => Promise<T>): Promise<T> {
  const within = new CancelSource();
  const late = new AgentError("deadline", `it took longer than ${timeoutMs} ms`, { sent: "maybe" });
  const timer = setTimeout(() => within.cancel(late), timeoutMs);
  const unlink = cancel.onCancel((reason) => within.cancel(reason));
  try {
    const stopped = new Promise<never>((_resolve, reject) => within.onCancel(reject));
    return await Promise.race([work(within), stopped]);
  } finally {
    clearTimeout(timer);
    unlink();
  }
}
