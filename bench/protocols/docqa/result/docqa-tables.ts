import { short, type Table } from "../../../harness/table.js";
import type { Plan } from "../../result/plan.js";
import { ROUTER_ARM } from "../../router-loop/choose.js";
import { PAPER_DOCQA } from "../paper-figures.js";
import type { Docqa, DocqaArm } from "./docqa-result.js";

const US_PER_MS = 1_000;
/** Stragglers that are listed one by one. */
const MAX_LISTED = 20;

/** The paper's table 3a: quality and success of every arm under one condition, with its figures beside ours. */
export function successTable({ arms }: Docqa, plan: Plan, condition: string): Table {
  return {
    title: "Right answers and quality",
    head: ["arm", "quality (1–5)", "right", "%", "95 %", "completed", "F1", "paper: quality", "paper: success"],
    rows: own(arms, plan, condition).map(({ arm, quality, success, completion, f1 }) => {
      const paper = PAPER_DOCQA[protocolOf(plan, arm)];
      return [
        arm,
        short(quality ?? undefined),
        `${success.hits} of ${success.of}`,
        percent(success.hits, success.of),
        interval(success),
        `${completion.hits} of ${completion.of}`,
        short(f1 ?? undefined),
        paper === undefined ? "–" : paper.quality.toFixed(2),
        paper === undefined ? "–" : paper.success.toFixed(2),
      ];
    }),
    note:
      "Right: equal to the exact answer after normalisation, with a Wilson interval. Quality by rule: 5 right with every step completed once, 4 right " +
      "otherwise, 3 wrong though every step was completed, 2 wrong with some steps completed, 1 none. The paper's figures are for other questions, " +
      "with a model as judge; its unit of success is not stated.",
  };
}

export function levelTable({ arms }: Docqa, plan: Plan, condition: string): Table {
  return {
    title: "By level",
    head: ["arm", "level", "right", "95 %", "quality"],
    rows: own(arms, plan, condition).flatMap(({ arm, byLevel }) =>
      byLevel.map(({ level, success, quality }) => [
        arm,
        String(level),
        `${success.hits} of ${success.of}`,
        interval(success),
        short(quality ?? undefined),
      ]),
    ),
  };
}

/** Time of whole questions, and the part in which nobody was at work. */
export function timeTable({ arms }: Docqa, plan: Plan, condition: string): Table {
  return {
    title: "Time of a question",
    head: ["arm", "mean (ms)", "communication (ms)", "single_task_comm_time@5 (ms)", "paper (ms)"],
    rows: own(arms, plan, condition).map(({ arm, workflowUs, communicationUs, singleTaskUs }) => [
      arm,
      ms(workflowUs),
      ms(communicationUs),
      singleTaskUs.map(ms).join(" "),
      PAPER_DOCQA[protocolOf(plan, arm)]?.trialsMs.join(" ") || "–",
    ]),
    note:
      "Communication: from the question to the answer at the caller, without the time in which at least one agent took a step. The single-task trials are " +
      "the first question in up to five runs.",
  };
}

/** What agents did, mean over the runs of an arm. */
export function agentTable({ runs }: Docqa, plan: Plan, condition: string): Table {
  const subjects = subjectsOf(plan);
  return {
    title: "Agents, mean over runs",
    head: [
      "arm",
      "agent",
      "steps",
      "failed",
      "step (ms)",
      "CPU (ms)",
      "tokens (estimated)",
      "messages",
      "payload bytes",
      "wire bytes",
    ],
    rows: subjects.flatMap((arm) => {
      const measured = runs.filter((run) => run.arm === arm && run.condition === condition);
      const names = measured[0]?.agents.map(({ agent }) => agent) ?? [];
      return names.map((name) => {
        const all = measured.flatMap(({ agents }) => agents.filter(({ agent }) => agent === name));
        const average = (value: (one: (typeof all)[number]) => number | null): number | undefined => {
          const values = all.flatMap((one) => value(one) ?? []);
          return values.length === 0 ? undefined : values.reduce((total, each) => total + each, 0) / values.length;
        };
        return [
          arm,
          name,
          short(average(({ steps }) => steps)),
          short(average(({ failed }) => failed)),
          short(average(({ stepUs }) => (stepUs === null ? null : stepUs / US_PER_MS))),
          short(average(({ cpuUs }) => cpuUs / US_PER_MS)),
          short(average(({ tokens }) => tokens)),
          short(average(({ messages }) => messages)),
          short(average(({ payloadBytes }) => payloadBytes)),
          short(average(({ wireBytes }) => wireBytes)),
        ];
      });
    }),
    note: "Wire bytes are those of all edges to and from the agent. Tokens are a quarter of the characters of tool calls: no tokenizer is asked.",
  };
}

/** Which of two arms was right where the other was not. */
export function pairTable({ pairs }: Docqa, condition: string): Table {
  return {
    title: "Every pair, question by question",
    head: ["pair", "questions", "only the first right", "only the second", "p (exact McNemar)"],
    rows: pairs
      .filter((pair) => pair.condition === condition)
      .map(({ a, b, questions, onlyA, onlyB, p }) => [
        `${a} and ${b}`,
        String(questions),
        String(onlyA),
        String(onlyB),
        p === null ? "no difference" : p.toPrecision(2),
      ]),
  };
}

/** Steps far slower than others by the same tools; undefined if there are none. */
export function stragglerTable({ runs }: Docqa, condition: string): Table | undefined {
  const all = runs
    .filter((run) => run.condition === condition)
    .flatMap((run) => run.stragglers.map((each) => ({ run, ...each })));
  if (all.length === 0) return undefined;
  return {
    title: "Stragglers",
    head: ["run", "arm", "question", "step", "agent", "took (ms)", "fence (ms)"],
    rows: all
      .slice(0, MAX_LISTED)
      .map(({ run, task_id, step, agent, us, fenceUs }) => [run.run, run.arm, task_id, String(step), agent, ms(us), ms(fenceUs)]),
    note: `${all.length} steps took longer than the third quartile plus three times the interquartile range of steps by the same tools.`,
  };
}

/** For the terminal: one row per arm and condition, with a sign for what fell. */
export function docqaSummary({ arms }: Docqa, plan: Plan): Table {
  return {
    title: "right answers",
    head: ["condition", "arm", "right", "", "quality", "completed", "question ms", "communication ms"],
    rows: plan.conditions.flatMap(({ id }) =>
      own(arms, plan, id).map(({ arm, success, quality, completion, workflowUs, communicationUs }) => [
        id,
        arm,
        `${success.hits} of ${success.of}`,
        bar(success.hits, success.of),
        short(quality ?? undefined),
        `${completion.hits} of ${completion.of}`,
        ms(workflowUs),
        ms(communicationUs),
      ]),
    ),
  };
}

const BAR = 10;

function bar(hits: number, of: number): string {
  const full = of === 0 ? 0 : Math.round((BAR * hits) / of);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)}`;
}

function subjectsOf({ arms }: Plan): readonly string[] {
  return arms.filter(({ control }) => control === undefined).map(({ id }) => id);
}

function own(arms: readonly DocqaArm[], plan: Plan, condition: string): readonly DocqaArm[] {
  const subjects = subjectsOf(plan);
  return arms.filter((each) => each.condition === condition && subjects.includes(each.arm));
}

/** By which name the paper has an arm: its bare protocol, or its router. */
function protocolOf({ arms }: Plan, arm: string): string {
  const found = arms.find(({ id }) => id === arm);
  return found === undefined || found.identities === true ? "" : found.id === ROUTER_ARM ? ROUTER_ARM : found.protocol;
}

function percent(hits: number, of: number): string {
  return of === 0 ? "–" : ((100 * hits) / of).toFixed(1);
}

function interval({ low, high }: DocqaArm["success"]): string {
  return low === null || high === null ? "–" : `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`;
}

function ms(us: number | null): string {
  return us === null ? "–" : short(us / US_PER_MS);
}
