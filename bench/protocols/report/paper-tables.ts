import { short, type Table } from "../../harness/table.js";
import { placeAgents } from "../harness/plan-runs.js";
import type { Metric } from "../result/index.js";
import { ROUTER_ARM } from "../router-loop/choose.js";
import { PAPER_PAIRS, PAPER_QUEUE, type PaperQueue } from "./paper-queue.js";
import type { ArmView, ConditionView } from "./view.js";
import { chanceOf, figure } from "./words.js";

const S_PER_US = 1e-6;
const MIN_PER_S = 1 / 60;

/** One table of the paper, as a part of the report. */
interface PaperPanel {
  readonly id: string;
  readonly title: string;
  readonly sentence: string;
  readonly table: Table;
}

/** The paper's tables of the queue in its layout and units, its figures beside ours. */
export function paperPanels(views: readonly ConditionView[], agents: number): readonly PaperPanel[] {
  const [view] = views;
  if (view === undefined || view.condition.load.loop !== "closed") return [];
  const panel = (id: string, title: string, sentence: string, table: Table): PaperPanel => ({
    id: `paper-${id}`,
    title,
    sentence,
    table,
  });
  return [
    panel("3c", "Table 3c", "Duration, mean, extremes and spread of the latency of an entry.", table3c(view)),
    panel("4", "Table 4", "The mean latency with its 95 % interval.", table4(view)),
    panel("5", "Table 5", "What encoding and decoding of one message costs, by number of workers.", table5(views, agents)),
    panel("10", "Table 10", "Every pair by mean latency.", table10(view)),
  ];
}

/** The paper's row for an arm that is what it measured: the bare protocol. What it says of its router is in table 7. */
function paperOf({ arm }: ArmView): PaperQueue | undefined {
  const isOther = arm.identities === true || arm.features === "full" || arm.id === ROUTER_ARM;
  return isOther ? undefined : PAPER_QUEUE[arm.protocol];
}

/** A column of ours and the same of the paper. */
interface Column {
  readonly head: string;
  readonly metric: Metric;
  readonly scale: number;
  paper(row: PaperQueue): number;
}

const COLUMNS: readonly Column[] = [
  { head: "Duration (min)", metric: "durationS", scale: MIN_PER_S, paper: ({ durationMin }) => durationMin },
  { head: "Mean (s)", metric: "meanUs", scale: S_PER_US, paper: ({ mean }) => mean },
  { head: "Min (s)", metric: "minUs", scale: S_PER_US, paper: ({ min }) => min },
  { head: "Max (s)", metric: "maxUs", scale: S_PER_US, paper: ({ max }) => max },
  { head: "Std. Dev. (s)", metric: "sdUs", scale: S_PER_US, paper: ({ sd }) => sd },
];

const number = (value: number | null | undefined, scale = 1): string => (value == null ? "–" : short(value * scale));

function table3c({ arms }: ConditionView): Table {
  return {
    title: "Streaming Queue: end-to-end latency statistics",
    head: ["Protocol", ...COLUMNS.flatMap(({ head }) => [head, "paper"])],
    rows: arms.map((view) => {
      const paper = paperOf(view);
      return [
        view.arm.id,
        ...COLUMNS.flatMap(({ metric, scale, paper: of }) => [
          number(view.summary.metrics[metric].mean, scale),
          paper === undefined ? "–" : String(of(paper)),
        ]),
      ];
    }),
    note:
      "The paper's times are those of a language model of 72 billion parameters, ours of scripted or recorded answers: compare the differences between " +
      "protocols, not the times. In the paper's program ACP is a function call in one process without any socket, Agora asks a second model " +
      "before each answer, and ANP has neither the prompt that limits answers nor a time limit; error texts count as answers. With four clients in a " +
      "closed loop, duration is 1,000 times the mean over 4, and no second measurement.",
  };
}

function table4({ arms }: ConditionView): Table {
  const interval = (low: number | null, high: number | null): string =>
    low === null || high === null ? "–" : `[${number(low, S_PER_US)}, ${number(high, S_PER_US)}]`;
  return {
    title: "Streaming Queue: mean end-to-end latency with 95 % bootstrap intervals and standard deviations",
    head: ["Protocol", "Mean latency (s)", "paper", "95 % CI", "paper", "Std. dev. (s)", "paper"],
    rows: arms.map((view) => {
      const [paper, { meanUs, sdUs }] = [paperOf(view), view.summary.metrics];
      return [
        view.arm.id,
        number(meanUs.mean, S_PER_US),
        paper === undefined ? "–" : paper.mean.toFixed(3),
        interval(meanUs.low, meanUs.high),
        paper === undefined ? "–" : `[${paper.interval.map((end) => end.toFixed(3)).join(", ")}]`,
        number(sdUs.mean, S_PER_US),
        paper === undefined ? "–" : paper.sd.toFixed(2),
      ];
    }),
    note:
      "Our interval is over runs, and absent below five. The paper's is the mean ± 1.96 standard errors of 1,000 requests of one run, which are not " +
      "independent: another run may well be outside.",
  };
}

/** The numbers of workers of the paper, and all that were measured. */
function table5(views: readonly ConditionView[], agents: number): Table {
  const bySize = new Map(
    views
      .filter(({ condition }, index) => index === 0 || condition.agents !== undefined)
      .map((view) => [view.condition.agents ?? agents, view]),
  );
  const sizes = [...new Set([4, 8, 16, 32, ...bySize.keys()])].sort((a, b) => a - b);
  const [first] = views;
  return {
    title: "Streaming Queue scale-up: adapter time per message (ms)",
    head: ["Protocol", ...sizes.flatMap((size) => [agentsTitle(size), "paper"])],
    rows: (first?.arms ?? []).map((view) => [
      view.arm.id,
      ...sizes.flatMap((size) => {
        const same = bySize.get(size)?.arms.find(({ arm }) => arm.id === view.arm.id);
        const paper = paperOf(view)?.adapterMs[size];
        return [figure("adapterMeanUs", same?.summary.metrics.adapterMeanUs.mean), paper === undefined ? "–" : String(paper)];
      }),
    ]),
    note:
      "Encoding and decoding on both sides, without network, queues and handler. The paper gives no program for its table; times that grow with the " +
      "number of agents are what one event loop for all of them would give, and ACP's are those of a function call. Ours have a process per agent; where " +
      "a column names processes, its agents share them. All columns have the same traffic.",
  };
}

/** Above a number that a machine can hold, agents share processes: then the column says so. */
export function agentsTitle(agents: number): string {
  const processes = placeAgents(agents).length;
  return `${agents} agents${processes === agents ? "" : ` in ${processes} processes`}`;
}

function table10({ arms, comparisons }: ConditionView): Table {
  const own = comparisons.filter(({ metric }) => metric === "meanUs");
  const byId = new Map(arms.map((view) => [view.arm.id, view]));
  return {
    title: "Streaming Queue: pairwise comparisons on mean latency (Welch's t-test with Holm–Bonferroni correction)",
    head: ["Comparison (row − col)", "Mean diff (s)", "paper", "Cohen's d", "paper", "Adjusted p-value", "paper"],
    rows: own.map(({ a, b, cohensD, adjustedP }) => {
      const [one, two] = [byId.get(a), byId.get(b)];
      const [first, second] = [one?.summary.metrics.meanUs.mean ?? null, two?.summary.metrics.meanUs.mean ?? null];
      const paper = paperPair(one, two);
      return [
        `${a} − ${b}`,
        first === null || second === null ? "–" : number(first - second, S_PER_US),
        paper === undefined ? "–" : paper.difference.toFixed(3),
        cohensD === null ? "–" : cohensD.toFixed(2),
        paper === undefined ? "–" : paper.cohensD.toFixed(2),
        chanceOf(adjustedP),
        paper?.p ?? "–",
      ];
    }),
    note:
      `Negative: the first is faster. Ours are over runs and corrected for all ${own.length} pairs of the ${arms.length} arms; the paper has six, between four protocols, ` +
      "leaves ANP − Agora out, and takes 1,000 requests of one run as independent.",
  };
}

function paperPair(one: ArmView | undefined, two: ArmView | undefined) {
  if (one === undefined || two === undefined || paperOf(one) === undefined || paperOf(two) === undefined) return undefined;
  const [a, b] = [one.arm.protocol, two.arm.protocol];
  const found = PAPER_PAIRS.find((pair) => pair.a === a && pair.b === b);
  if (found !== undefined) return found;
  const turned = PAPER_PAIRS.find((pair) => pair.a === b && pair.b === a);
  return turned && { ...turned, difference: -turned.difference, cohensD: -turned.cohensD };
}
