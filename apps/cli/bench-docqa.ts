import { join } from "node:path";
import {
  confineProblem,
  DISTURBANCES,
  type Disturbance,
  FILES,
  LEVELS,
  type Level,
  MAX_PER_LEVEL,
  type ModelSettings,
  openModel,
  PLANNER_PROMPT,
  PlanError,
  type PlannedQuestion,
  type PromptName,
  planByModel,
  planByRule,
  questionEntries,
  questionsOf,
  readEvents,
  retrying,
  TEAM_PROMPTS,
} from "../../bench/protocols/index.js";
import type { QueueEntries } from "./bench-entries.js";
import { CliError, EXIT, usageError } from "./exit.js";

/** Options that only `koine bench docqa` has. */
export interface DocqaOptions {
  readonly levels?: readonly number[];
  readonly planner?: "rule" | "model";
  readonly questions?: number;
  readonly budget?: number;
  readonly drop?: number;
  readonly late?: number;
  readonly reorder?: number;
}

const BUDGET_S = 20;
const QUICK_BUDGET_S = 8;
const PER_LEVEL = { quick: 2, full: 12 } as const;

/** The questions with their teams, and what follows from them. */
export interface DocqaParts {
  readonly questions: PlannedQuestion[];
  readonly entries: QueueEntries;
  /** The largest team. */
  readonly agents: number;
  readonly budgetMs: number;
  /** What models are told, for the manifest. */
  readonly prompts: readonly PromptName[];
  readonly disturb: readonly { readonly kind: Disturbance; readonly count: number }[];
}

/** What plans the teams where no rule does. */
export interface PlanningModel {
  readonly settings: ModelSettings;
  readonly signal: AbortSignal;
}

/** Plans a team for each question. Throws a usage error for what cannot be asked here. */
export async function docqaParts(
  options: DocqaOptions & { readonly quick?: boolean; readonly impl: readonly string[]; readonly resume?: boolean },
  { seed, folder, planning }: { readonly seed: number; readonly folder: string; readonly planning: PlanningModel },
): Promise<DocqaParts> {
  if (options.impl.includes("official"))
    throw usageError("docqa cannot be measured with --impl official: its agents call each other");
  const levels = levelsOf(options.levels);
  const size = options.quick === true ? "quick" : "full";
  const perLevel = options.questions ?? PER_LEVEL[size];
  if (perLevel < 1 || perLevel > MAX_PER_LEVEL)
    throw usageError(`--questions takes a number from 1 to ${MAX_PER_LEVEL}, not ${perLevel}`);
  const asked = questionsOf({ levels, perLevel, seed });
  const byModel = (options.planner ?? (isModel(planning.settings) ? "model" : "rule")) === "model";
  const questions = byModel
    ? await planWithModel(asked, seed, { ...planning, folder, resume: options.resume === true })
    : [...planByRule(asked, seed)];
  checkTools(questions);
  const budgetS = options.budget ?? (options.quick === true ? QUICK_BUDGET_S : BUDGET_S);
  return {
    questions,
    entries: { source: questionEntries(questions, seed), count: questions.length },
    agents: Math.max(...questions.map(({ team }) => team.agents.length)),
    budgetMs: budgetS * 1_000,
    prompts: [...Object.values(TEAM_PROMPTS), ...(byModel ? ([PLANNER_PROMPT] as const) : [])],
    disturb: DISTURBANCES.flatMap((kind) => {
      const count = options[kind];
      return count === undefined ? [] : [{ kind, count }];
    }),
  };
}

function levelsOf(wanted: readonly number[] | undefined): readonly Level[] {
  const levels = LEVELS.filter((level) => wanted === undefined || wanted.includes(level));
  if (wanted !== undefined && levels.length < new Set(wanted).size)
    throw usageError(`--levels takes numbers of ${LEVELS.join(", ")}`);
  return levels;
}

/** Code is never run without its limits. */
function checkTools(questions: readonly PlannedQuestion[]): void {
  const runs = questions.find(({ team }) => team.required_tools.some((tool) => tool === "run_code" || tool === "python_execute"));
  const problem = runs === undefined ? undefined : confineProblem();
  if (runs !== undefined && problem !== undefined)
    throw usageError(`level ${runs.level} has questions for which code is run: ${problem}`, "Leave them out with --levels 1,2.");
}

type Asked = ReturnType<typeof questionsOf>;

/** A result that is gone on with keeps its teams: a model may plan others the second time. */
async function planWithModel(
  asked: Asked,
  seed: number,
  { settings, signal, folder, resume }: PlanningModel & { readonly folder: string; readonly resume: boolean },
): Promise<PlannedQuestion[]> {
  if (!isModel(settings)) throw usageError("--planner model needs --answers live or recorded, and the model that they name");
  if (resume) {
    const { events } = await readEvents(join(folder, FILES.events));
    const [first] = events;
    if (first?.type === "plan" && first.plan.questions !== undefined) return first.plan.questions;
  }
  try {
    const name = settings.kind === "live" ? settings.model : "recorded";
    return [...(await planByModel(asked, seed, { model: retrying(await openModel(settings)), name, signal }))];
  } catch (thrown) {
    if (thrown instanceof PlanError)
      throw new CliError(EXIT.failure, thrown.message, { code: "no_plan", hint: "Plan with --planner rule." });
    throw thrown;
  }
}

function isModel({ kind }: ModelSettings): boolean {
  return kind === "live" || kind === "recorded";
}
