import type { Table } from "../../harness/table.js";
import { short } from "../../harness/table.js";
import type { Metric } from "../result/index.js";
import { agentsTitle } from "./paper-tables.js";
import type { ArmView, ConditionView } from "./view.js";
import { figure, heading, range } from "./words.js";

const US_PER_MS = 1_000;
/** More workers than this are not listed one by one. */
const MAX_LISTED = 32;
const QUEUE_METRICS: readonly Metric[] = ["durationS", "meanUs", "p50Us", "minUs", "maxUs", "sdUs", "balanceVariance"];

/** The columns of the paper's tables 3c and 4, and what its appendix D.3 adds. */
export function queueTable({ arms }: ConditionView): Table {
  return {
    title: "The queue, mean over runs",
    head: [
      "arm",
      ...QUEUE_METRICS.map(heading),
      "95 % of the mean (ms)",
      "answered",
      "dropped",
      "network errors",
      "retries",
      "timeouts",
    ],
    rows: arms.map(({ arm, summary, runs }) => [
      arm.id,
      ...QUEUE_METRICS.map((metric) => figure(metric, summary.metrics[metric].mean)),
      range("meanUs", summary.metrics.meanUs.low, summary.metrics.meanUs.high),
      `${summary.success.answered} of ${summary.success.sent}`,
      total(runs, "dropped"),
      total(runs, "networkErrors"),
      total(runs, "retries"),
      total(runs, "timeout"),
    ]),
    note:
      "Load-balance variance: of the answered entries per worker. Duration is from the first entry to the last answer; in a closed loop it is " +
      "the mean latency times entries over workers, and no second measurement.",
  };
}

function total(runs: ArmView["runs"], count: "dropped" | "networkErrors" | "retries" | "timeout"): string {
  return String(runs.reduce((sum, { requests }) => sum + requests[count], 0));
}

/** Tasks and times of each worker; undefined with one agent, and with very many. */
export function workerTable({ arms }: ConditionView): Table | undefined {
  const most = Math.max(0, ...arms.flatMap(({ runs }) => runs.map(({ workers }) => workers.length)));
  if (most < 2 || most > MAX_LISTED) return undefined;
  return {
    title: "Workers, mean over runs",
    head: ["arm", "worker", "entries", "mean latency (ms)", "standard deviation (ms)", "busy (s)"],
    rows: arms.flatMap(({ arm, runs }) =>
      (runs[0]?.workers ?? []).map(({ agent }) => {
        const own = runs.flatMap(({ workers }) => workers.find((each) => each.agent === agent) ?? []);
        const mean = (values: readonly number[]) =>
          values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
        return [
          arm.id,
          agent,
          short(mean(own.map(({ tasks }) => tasks))),
          short(mean(own.flatMap(({ meanUs }) => (meanUs === null ? [] : meanUs / US_PER_MS)))),
          short(mean(own.flatMap(({ sdUs }) => (sdUs === null ? [] : sdUs / US_PER_MS)))),
          short(mean(own.map(({ totalUs }) => totalUs / US_PER_MS / 1_000))),
        ];
      }),
    ),
  };
}

/** The paper's table 5, with as many columns as numbers of agents were measured; undefined with one. */
export function scaleTable(views: readonly ConditionView[], agents: number): Table | undefined {
  const [first, ...rest] = views;
  if (first === undefined) return undefined;
  const sized = [first, ...rest.filter(({ condition }) => condition.agents !== undefined)];
  if (sized.length < 2) return undefined;
  return {
    title: "Adapter time per message in milliseconds, by number of workers",
    head: ["arm", ...sized.map(({ condition }) => agentsTitle(condition.agents ?? agents))],
    rows: first.arms.map(({ arm }) => [
      arm.id,
      ...sized.map(({ arms }) => {
        const metric = arms.find((each) => each.arm.id === arm.id)?.summary.metrics.adapterMeanUs;
        return figure("adapterMeanUs", metric?.mean);
      }),
    ]),
    note: "Encoding and decoding on both sides, without network, queues and handler. The same requests are in flight for every number of workers.",
  };
}

/** What killing the coordinator did; undefined where it was not killed. */
export function coordinatorTable({ arms }: ConditionView): Table | undefined {
  const rows = arms.flatMap(({ arm, runs }) =>
    runs.flatMap(({ run, coordinator, requests }) =>
      coordinator === null
        ? []
        : [
            [
              arm.id,
              run,
              String(coordinator.answeredBefore),
              short(coordinator.downUs / US_PER_MS),
              coordinator.firstAnswerUs === null ? "–" : short(coordinator.firstAnswerUs / US_PER_MS),
              String(coordinator.sentAgain),
              String(requests.duplicates),
              `${requests.answered} of ${requests.sent}`,
            ],
          ],
    ),
  );
  if (rows.length === 0) return undefined;
  return {
    title: "The coordinator, killed and started again",
    head: ["arm", "run", "answered before", "down (ms)", "first answer (ms)", "sent again", "worked on twice", "answered once"],
    rows,
    note:
      "Down: from SIGKILL until another coordinator was connected to the workers; first answer: from there. An entry that was under way is sent again; a " +
      "worker that had received it works on it twice, and one answer counts.",
  };
}

/** The paper's table 11: mean latency of every arm with models of different service times; undefined with one model. */
export function modelTable(views: readonly ConditionView[]): Table | undefined {
  const [first, ...rest] = views;
  const models = rest.filter(({ condition }) => condition.serviceMs !== undefined);
  if (first === undefined || models.length === 0) return undefined;
  const columns = [first, ...models];
  return {
    title: "Mean latency in milliseconds, by model",
    head: [
      "arm",
      ...columns.map(({ condition }) =>
        condition.serviceMs === undefined ? "first model" : `model of ${condition.serviceMs} ms`,
      ),
      "order",
    ],
    rows: first.arms.map(({ arm }) => [
      arm.id,
      ...columns.map(({ arms }) => figure("meanUs", arms.find((each) => each.arm.id === arm.id)?.summary.metrics.meanUs.mean)),
      columns.map((column) => rankOf(column, arm.id)).join(" "),
    ]),
    note: "Scripted models with different mean service times stand in for different models. Order: the place of the arm with each model; 1 is the fastest.",
  };
}

function rankOf({ arms }: ConditionView, id: string): string {
  const meanOf = ({ summary }: ArmView) => summary.metrics.meanUs.mean ?? Number.POSITIVE_INFINITY;
  return String(arms.toSorted((a, b) => meanOf(a) - meanOf(b)).findIndex(({ arm }) => arm.id === id) + 1);
}
