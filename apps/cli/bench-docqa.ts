import {
  confineProblem,
  DISTURBANCES,
  type Disturbance,
  LEVELS,
  type Level,
  MAX_PER_LEVEL,
  type PlannedQuestion,
  planByRule,
  questionEntries,
  questionsOf,
} from "../../bench/protocols/index.js";
import type { QueueEntries } from "./bench-entries.js";
import { usageError } from "./exit.js";

/** Options that only `koine bench docqa` has. */
export interface DocqaOptions {
  readonly levels?: readonly number[];
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
  readonly disturb: readonly { readonly kind: Disturbance; readonly count: number }[];
}

/** Plans a team for each question. Throws a usage error for what cannot be asked here. */
export function docqaParts(
  options: DocqaOptions & { readonly quick?: boolean; readonly impl: readonly string[] },
  seed: number,
): DocqaParts {
  if (options.impl.includes("official"))
    throw usageError("docqa cannot be measured with --impl official: its agents call each other");
  const levels = levelsOf(options.levels);
  const size = options.quick === true ? "quick" : "full";
  const perLevel = options.questions ?? PER_LEVEL[size];
  if (perLevel < 1 || perLevel > MAX_PER_LEVEL)
    throw usageError(`--questions takes a number from 1 to ${MAX_PER_LEVEL}, not ${perLevel}`);
  const questions = [...planByRule(questionsOf({ levels, perLevel, seed }), seed)];
  checkTools(questions);
  const budgetS = options.budget ?? (options.quick === true ? QUICK_BUDGET_S : BUDGET_S);
  return {
    questions,
    entries: { source: questionEntries(questions, seed), count: questions.length },
    agents: Math.max(...questions.map(({ team }) => team.agents.length)),
    budgetMs: budgetS * 1_000,
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
