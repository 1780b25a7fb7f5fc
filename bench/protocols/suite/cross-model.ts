import { short, type Table } from "../../harness/table.js";
import type { ArmView, ConditionView } from "../report/view.js";
import { conditionViews } from "../report/view.js";
import type { BenchResult, Metric } from "../result/index.js";
import { ROUTER_ARM } from "../router-loop/choose.js";

const US_PER_MS = 1_000;
const MODELS = ["Qwen2.5-VL-72B", "GPT-4o", "Gemini-2.5-flash"] as const;

/** The paper's table 11 in milliseconds, by protocol, in the order of its models. */
const PAPER: Readonly<Record<string, readonly [number, number, number]>> = {
  acp: [0.148, 0.108, 0.155],
  a2a: [1.223, 1.057, 1.141],
  anp: [1.617, 1.386, 1.583],
  agora: [4.016, 4.06, 3.429],
};

/** The paper's table 11: every protocol with three models; undefined with fewer than two. */
export function crossModelTable(result: BenchResult, firstServiceMs: number | undefined): Table | undefined {
  const [first, ...rest] = conditionViews(result);
  const models = rest.filter(({ condition }) => condition.serviceMs !== undefined);
  if (first === undefined || models.length === 0) return undefined;
  const columns = [first, ...models];
  const nameOf = ({ condition }: ConditionView) => {
    const ms = condition.serviceMs ?? firstServiceMs;
    return ms === undefined ? "first model" : `model of ${short(ms)} ms`;
  };
  return {
    title: "Cross-model comparison on Streaming Queue",
    head: [
      "Protocol",
      ...columns.flatMap((column, index) => [
        `${nameOf(column)}: mean latency (ms)`,
        "adapter (ms)",
        `paper: ${MODELS[index] ?? "–"} (ms)`,
      ]),
      "order by latency",
      "order by adapter",
    ],
    rows: first.arms.map(({ arm }) => [
      arm.id,
      ...columns.flatMap((column, index) => [
        shown(column, arm.id, "meanUs"),
        shown(column, arm.id, "adapterMeanUs"),
        arm.identities === true || arm.id === ROUTER_ARM ? "–" : String(PAPER[arm.protocol]?.[index] ?? "–"),
      ]),
      columns.map((column) => rankOf(column, arm.id, "meanUs")).join(" "),
      columns.map((column) => rankOf(column, arm.id, "adapterMeanUs")).join(" "),
    ]),
    note:
      "Scripted models with different mean service times stand in for the paper's three; the same draw for the same entry in every arm. The paper calls its figures " +
      "mean end-to-end latencies in milliseconds, but a model of 72 billion parameters answers in seconds (its table 3c): they are of the size of its adapter times " +
      "for four agents (table 5), so compare them with our adapter column. Order: the place of the arm with each model; 1 is the fastest.",
  };
}

function meanOf(view: ArmView | undefined, metric: Metric): number | null {
  return view?.summary.metrics[metric].mean ?? null;
}

function shown({ arms }: ConditionView, id: string, metric: Metric): string {
  const us = meanOf(
    arms.find(({ arm }) => arm.id === id),
    metric,
  );
  return us === null ? "–" : short(us / US_PER_MS);
}

function rankOf({ arms }: ConditionView, id: string, metric: Metric): string {
  const value = (view: ArmView) => meanOf(view, metric) ?? Number.POSITIVE_INFINITY;
  return String(arms.toSorted((a, b) => value(a) - value(b)).findIndex(({ arm }) => arm.id === id) + 1);
}
