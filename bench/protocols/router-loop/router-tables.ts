import { short, type Table } from "../../harness/table.js";
import type { BenchResult, Comparison, Metric } from "../result/index.js";
import { mean } from "../result/means.js";
import { conclusionOf } from "../statistics/index.js";
import { infeasibleText, ROUTER_ARM, type Routing } from "./choose.js";

const US_PER_MS = 1_000;
const US_PER_S = 1_000_000;

export const ROUTER_TABLE = {
  title: "The router's plan and the best single protocol",
  head: ["metric", "router", "best single", "paper: router", "paper: best single"],
} as const;

/** The paper's table 7, by scenario: router, best single protocol. Its own measurements, other questions and other machines. */
const PAPER: Readonly<Record<string, Readonly<Record<string, readonly [router: string, best: string]>>>> = {
  docqa: { quality: ["2.50", "2.51"], success: ["9.90", "9.29"] },
  "streaming-queue": { durationS: ["2375", "2417"], meanUs: ["9495", "9663"] },
  "fail-storm": { pre: ["14.86", "14.91"], post: ["13.98", "14.57"], recoveryUs: ["6.55", "8.00"] },
};

/** In place of a comparison, where the router has nothing to execute. */
export function infeasibleTable(routing: Routing): Table {
  return { ...ROUTER_TABLE, rows: [["plan", "none", "–", "–", "–"]], note: infeasibleText(routing) };
}

/** The router's plan against the best single protocol under one condition; undefined if no arm executes a plan. */
export function routerTable(result: BenchResult, condition: string): Table | undefined {
  const { plan, docqa } = result;
  if (plan.routing === undefined) return undefined;
  if (plan.routing.infeasible !== undefined) return infeasibleTable(plan.routing);
  const paper = PAPER[plan.scenario] ?? {};
  const answers = (docqa?.arms ?? []).filter((each) => each.condition === condition && isSubject(result, each.arm));
  const rows = [
    ...(answers.length === 0
      ? []
      : [
          compared(
            "quality (1–5)",
            answers.map(({ arm, quality }) => ({ arm, value: quality })),
            "most",
            paper["quality"],
          ),
          compared(
            "right (%)",
            answers.map(({ arm, success }) => ({ arm, value: success.of === 0 ? null : (100 * success.hits) / success.of })),
            "most",
            paper["success"],
          ),
          compared(
            "communication (ms)",
            answers.map(({ arm, communicationUs }) => ({
              arm,
              value: communicationUs === null ? null : communicationUs / US_PER_MS,
            })),
            "least",
          ),
        ]),
    ...(plan.conditions.some(({ recovery }) => recovery !== undefined)
      ? stormRows(result, condition, paper)
      : [compared("duration (s)", metricOf(result, condition, "durationS", 1), "least", paper["durationS"])]),
    compared("mean latency (ms)", metricOf(result, condition, "meanUs", US_PER_MS), "least", paper["meanUs"]),
    compared("median latency (ms)", metricOf(result, condition, "p50Us", US_PER_MS), "least"),
  ];
  return {
    ...ROUTER_TABLE,
    rows,
    note: routerSentence(result, condition),
  };
}

/** What the paper compares after faults: the share of right answers before and after, and the recovery. */
function stormRows(
  result: BenchResult,
  condition: string,
  paper: NonNullable<(typeof PAPER)[string]>,
): readonly (readonly string[])[] {
  const shares = (when: "pre" | "post"): readonly Value[] =>
    result.plan.arms.flatMap(({ id: arm, control }) => {
      if (control !== undefined) return [];
      const windows = result.runs
        .filter((run) => run.arm === arm && run.condition === condition)
        .flatMap(({ storm }) => storm?.cycles.map((cycle) => cycle.paper[when]) ?? [])
        .filter(({ ended }) => ended > 0);
      return [{ arm, value: mean(windows.map(({ right, ended }) => (100 * right) / ended)) }];
    });
  return [
    compared("right before (%)", shares("pre"), "most", paper["pre"]),
    compared("right after (%)", shares("post"), "most", paper["post"]),
    compared("recovery (s)", metricOf(result, condition, "recoveryUs", US_PER_S), "least", paper["recoveryUs"]),
  ];
}

interface Value {
  readonly arm: string;
  readonly value: number | null;
}

function isSubject({ plan }: BenchResult, arm: string): boolean {
  return plan.arms.some(({ id, control }) => id === arm && control === undefined);
}

function metricOf(result: BenchResult, condition: string, metric: Metric, scale: number): readonly Value[] {
  return result.arms
    .filter((each) => each.condition === condition && isSubject(result, each.arm))
    .map(({ arm, metrics }) => ({ arm, value: metrics[metric].mean === null ? null : metrics[metric].mean / scale }));
}

function compared(
  name: string,
  values: readonly Value[],
  better: "least" | "most",
  paper: readonly [string, string] = ["–", "–"],
): readonly string[] {
  const best = bestOf(values, better);
  const own = values.find(({ arm }) => arm === ROUTER_ARM)?.value;
  return [name, short(own ?? undefined), best === undefined ? "–" : `${short(best.value ?? undefined)} (${best.arm})`, ...paper];
}

function bestOf(values: readonly Value[], better: "least" | "most"): Value | undefined {
  const sign = better === "least" ? 1 : -1;
  return values
    .filter(({ arm, value }) => arm !== ROUTER_ARM && value !== null)
    .toSorted((a, b) => sign * ((a.value ?? 0) - (b.value ?? 0)))[0];
}

/** What can be said about the router against the best single protocol, by the metric that decides. */
export function routerSentence(result: BenchResult, condition: string): string {
  const { plan, comparisons, docqa } = result;
  const router = plan.arms.find(({ id }) => id === ROUTER_ARM);
  const metric = plan.primary as Metric;
  const best = bestOf(metricOf(result, condition, metric, 1), "least");
  if (router === undefined || best === undefined) return "Not measured.";
  const used = [...new Set(Object.values(router.assign ?? { all: router.protocol }))];
  const same = used.length === 1 && plan.arms.find(({ id }) => id === best.arm)?.protocol === used[0];
  const plans = same ? `The router's plan is ${used[0]} alone, the best single protocol itself. ` : "";
  const pair = comparisons.find((each) => each.condition === condition && each.metric === metric && isPair(each, best.arm));
  const right = docqa?.pairs.find((each) => each.condition === condition && isPair(each, best.arm));
  const answers =
    right === undefined
      ? ""
      : ` Right answers: ${right.p === null ? "no difference" : `p = ${right.p.toPrecision(2)} (exact McNemar)`}.`;
  return `${plans}${timeSentence(pair, best.arm, plan.marginUs)}${answers}`;
}

function isPair({ a, b }: { readonly a: string; readonly b: string }, other: string): boolean {
  return (a === ROUTER_ARM && b === other) || (b === ROUTER_ARM && a === other);
}

function timeSentence(pair: Comparison | undefined, best: string, marginUs: number): string {
  if (pair === undefined || pair.shift === null) return `Too few runs to compare it with ${best}.`;
  const { shift, low, high, adjustedP, equivalenceP } = pair;
  const conclusion = conclusionOf({ adjustedP: adjustedP ?? undefined, equivalenceP: equivalenceP ?? undefined });
  const sign = pair.a === ROUTER_ARM ? 1 : -1;
  const ms = (us: number | null) => (us === null ? "–" : ((sign * us) / US_PER_MS).toFixed(2));
  const numbers = `router minus ${best} ${ms(shift)} ms, 95 % ${ms(sign > 0 ? low : high)} to ${ms(sign > 0 ? high : low)}`;
  const verdict =
    conclusion === "different"
      ? "A difference"
      : conclusion === "undecided"
        ? "No difference was shown"
        : `No difference beyond ${marginUs / US_PER_MS} ms`;
  return `${verdict}: ${numbers}.`;
}

/** The patterns of the paper's table 9 that it counted more than once, of 165 questions. */
const PAPER_PATTERNS: readonly (readonly [pattern: string, modules: number, count: number])[] = [
  ["[agora, acp]", 2, 70],
  ["[agora, agora, acp]", 3, 33],
  ["[agora, agora, agora, acp]", 4, 25],
  ["[acp]", 1, 7],
  ["[agora, a2a, agora, acp]", 4, 6],
  ["[agora, agora, agora, agora, acp]", 5, 4],
  ["[a2a, acp]", 2, 4],
  ["[agora, agora, a2a, acp]", 4, 3],
  ["[agora, agora, agora, agora, agora, acp]", 7, 3],
  ["[agora, a2a, acp]", 3, 3],
];
const PAPER_QUESTIONS = 165;

/** The paper's table 9: which protocols the agents of a question are called in, in the order of the team, and its own rows below. */
export function patternTable({ plan }: BenchResult): Table | undefined {
  const assign = plan.arms.find(({ id }) => id === ROUTER_ARM)?.assign;
  const { questions } = plan;
  if (assign === undefined || questions === undefined) return undefined;
  const counts = new Map<string, { modules: number; count: number }>();
  for (const { team } of questions) {
    const pattern = `[${team.agents.map(({ role }) => assign[role] ?? "–").join(", ")}]`;
    counts.set(pattern, { modules: team.agents.length, count: (counts.get(pattern)?.count ?? 0) + 1 });
  }
  const share = (count: number, of: number) => ((100 * count) / of).toFixed(1);
  const ours = [...counts].sort((a, b) => b[1].count - a[1].count);
  const planners = [...new Set(questions.map(({ team }) => team.planner))].join(" and ");
  return {
    title: "Assignment patterns",
    head: ["Assignment (ordered by agent)", "Rank", "#Mods", "Count", "Share (%)"],
    rows: [
      ...ours.map(([pattern, { modules, count }], index) =>
        [pattern, index + 1, modules, count, share(count, questions.length)].map(String),
      ),
      ...PAPER_PATTERNS.map(([pattern, modules, count], index) =>
        [`paper: ${pattern}`, index + 1, modules, count, share(count, PAPER_QUESTIONS)].map(String),
      ),
    ],
    note:
      `Ours: ${questions.length} questions, ${ours.length} patterns. The paper: ${PAPER_QUESTIONS} questions, 17 patterns, of which those that it counted once are left out; ` +
      `its lists and numbers of modules disagree in one row. Its teams are made by a model, ours by ${planners}, so that only the kind of mixture can be compared.`,
  };
}

/** The paper's figure 4: one question, module by module. The one with the largest team. */
export function caseTable({ plan }: BenchResult): Table | undefined {
  const { routing, questions } = plan;
  const assign = plan.arms.find(({ id }) => id === ROUTER_ARM)?.assign;
  const largest = questions?.toSorted((a, b) => b.team.agents.length - a.team.agents.length)[0];
  if (routing === undefined) return undefined;
  const because = new Map(routing.decisions.map(({ module, rationale }) => [module, rationale]));
  const rows =
    largest === undefined || assign === undefined
      ? routing.decisions.map(({ module, protocol, rationale }) => [module, "–", protocol, rationale])
      : largest.team.agents.map(({ name, role }) => [role, name, assign[role] ?? "–", because.get(role) ?? "–"]);
  return {
    title: "Module by module",
    head: ["module", "agent", "protocol", "because"],
    rows,
    note:
      largest === undefined
        ? `Scenario ${routing.scenario}.`
        : `Scenario ${routing.scenario}, question ${largest.id}: ${largest.text}`,
  };
}
