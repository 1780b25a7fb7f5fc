import { renderTable, short, type Table } from "../harness/table.js";
import { docqaSummary } from "./docqa/result/docqa-tables.js";
import type { ArmChange } from "./folder/compare.js";
import { type ArmSummary, type BenchResult, type Estimate, protectionText } from "./result/index.js";
import { routerTable } from "./router-loop/router-tables.js";

const US_PER_MS = 1_000;

/** The result as text: marks, checks and controls first, then a row for each arm. */
export function renderResult(result: BenchResult): string {
  const { status, marks, checks, controls, plan } = result;
  const judged = [...Object.values(checks), ...controls].map(
    ({ passed, statement }) => `${passed ? "passed" : "FAILED"}  ${statement}`,
  );
  const tables = plan.conditions.map(
    ({ id }) =>
      `${plan.scenario}, ${id}\n${renderArms(result.arms.filter(({ condition }) => condition === id))}${stormText(result, id)}`,
  );
  const answers = result.docqa === undefined ? undefined : docqaSummary(result.docqa, plan);
  if (answers !== undefined) tables.unshift(`${plan.scenario}, ${answers.title}\n${renderTable(answers.head, answers.rows)}`);
  const routed = plan.conditions.flatMap(({ id }) => {
    const table = routerTable(result, id);
    return table === undefined ? [] : [`${table.title}, ${id}\n${renderTable(table.head, table.rows)}\n${table.note ?? ""}`];
  });
  tables.push(...routed);
  return [`status: ${status}`, ...marks.map((mark) => `! ${mark}`), "", ...judged, "", tables.join("\n\n"), ""].join("\n");
}

/** What a storm of faults did, one row for each arm; empty without one. */
function stormText({ arms, runs }: BenchResult, condition: string): string {
  const rows = arms
    .filter((each) => each.condition === condition)
    .flatMap(({ arm, metrics }) => {
      const storms = runs.flatMap((run) => (run.arm === arm && run.condition === condition ? (run.storm ?? []) : []));
      const sum = (of: (storm: (typeof storms)[number]) => number) => String(storms.reduce((total, each) => total + of(each), 0));
      const cycles = storms.flatMap((storm) => storm.cycles);
      // Controls end before the storm.
      if (cycles.length === 0) return [];
      return [
        [
          arm,
          short(metrics.recoveryUs.mean === null ? undefined : metrics.recoveryUs.mean / US_PER_MS / US_PER_MS),
          ms(metrics.usefulUs.mean),
          short(metrics.retention.mean === null ? undefined : metrics.retention.mean * 100),
          `${cycles.filter(({ recoveryUs }) => recoveryUs !== null).length}/${cycles.length}`,
          sum(({ lost }) => lost),
          sum(({ doubled }) => doubled),
          sum(({ repeated }) => repeated),
          sum(({ executedAgain = 0 }) => executedAgain),
        ],
      ];
    });
  if (rows.length === 0) return "";
  const counts = ["lost", "doubled", "asked again", "answered again"];
  const header = ["arm", "recovery s", "listening to work ms", "retention %", "recovered", ...counts];
  return `\n\n${renderTable(header, rows)}`;
}

function renderArms(arms: readonly ArmSummary[]): string {
  const header = [
    "arm",
    "runs",
    "overhead p50 ms",
    "95 %",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "per s",
    "success",
    "bytes/req",
    "cpu µs/req",
    "protection",
  ];
  const rows = arms.map(({ arm, validRuns, runs, metrics, success, protection }) => [
    arm,
    validRuns === runs ? String(runs) : `${validRuns} of ${runs}`,
    ms(metrics.overheadP50Us.mean),
    intervalOf(metrics.overheadP50Us),
    ms(metrics.p50Us.mean),
    ms(metrics.p95Us.mean),
    ms(metrics.p99Us.mean),
    short(metrics.throughputPerS.mean ?? undefined),
    `${success.answered}/${success.sent}`,
    short(metrics.wireBytesPerRequest.mean ?? undefined),
    short(metrics.cpuUsPerRequest.mean ?? undefined),
    protectionText(protection),
  ]);
  return renderTable(header, rows);
}

function ms(us: number | null): string {
  return short(us === null ? undefined : us / US_PER_MS);
}

function intervalOf({ low, high }: Estimate): string {
  return low === null || high === null ? "–" : `${ms(low)}–${ms(high)}`;
}

/** Tables for the terminal, one below the other. */
export function renderTables(tables: readonly Table[]): string {
  return tables
    .map(({ title, head, rows, note }) => `${title}\n${renderTable(head, rows)}\n${note === undefined ? "" : `${note}\n`}`)
    .join("\n");
}

/** Two results beside each other. */
export function renderChanges(changes: readonly ArmChange[]): string {
  const rows = changes.map(({ arm, condition, metric, before, after, shift, interval, adjustedP, runs }) => [
    `${arm}, ${condition}`,
    metric,
    short(before ?? undefined),
    short(after ?? undefined),
    short(shift),
    interval === undefined ? "–" : `${short(interval[0])} to ${short(interval[1])}`,
    adjustedP === undefined ? "–" : adjustedP.toPrecision(2),
    String(runs),
  ]);
  return renderTable(["arm", "metric", "before", "after", "shift", "95 %", "p (Holm)", "runs"], rows);
}
