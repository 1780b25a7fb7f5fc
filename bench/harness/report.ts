import { valuesOf } from "./conclude.js";
import type { BenchResult, Metric, Row } from "./result.js";
import { median, spread } from "./statistics.js";
import { renderTable, short } from "./table.js";

/** The description of each section. */
export type Titles = Readonly<Record<string, string>>;

/** The table for people: a pure function of the result. */
export function renderReport(result: BenchResult, titles: Titles): string {
  const sections = [...new Set(result.rows.map((row) => row.section))];
  const blocks = sections.map((section) =>
    renderSection(
      section,
      titles[section] ?? section,
      result.rows.filter((row) => row.section === section),
    ),
  );
  return [...blocks, renderRatios(result), ...result.notes, `verdict: ${result.verdict}`].join("\n\n");
}

/** The last line of every bench: the numbers a machine reads, without the rounds. */
export function renderLastLine(result: BenchResult): string {
  const { rows: _rows, ...rest } = result;
  return JSON.stringify(rest, (_key, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value));
}

const COLUMNS: readonly { readonly metric: Metric; readonly title: string; readonly range?: boolean }[] = [
  { metric: "perSecond", title: "per s", range: true },
  { metric: "eventsPerSecond", title: "events/s" },
  { metric: "firstEventUs", title: "first event µs" },
  { metric: "p50Us", title: "p50 µs" },
  { metric: "addedUs", title: "added µs", range: true },
  { metric: "p95Us", title: "p95 µs" },
  { metric: "p99Us", title: "p99 µs" },
  { metric: "variation", title: "std/mean" },
  { metric: "cpuUs", title: "cpu µs" },
  { metric: "codecUs", title: "µs", range: true },
  { metric: "resumeUs", title: "µs", range: true },
  { metric: "rssMb", title: "MB", range: true },
  { metric: "heapMb", title: "heap MB", range: true },
];

function renderSection(section: string, heading: string, rows: readonly Row[]): string {
  const columns = COLUMNS.filter(({ metric }) => rows[0]?.series[0]?.[metric] !== undefined);
  const header = ["arm", ...columns.flatMap(({ title, range }) => (range ? [title, "[p10, p90]"] : [title]))];
  const lines = rows.map((row) => [
    row.arm,
    ...columns.flatMap(({ metric, range }) => {
      const values = valuesOf(row.series, metric);
      const middle = short(section === "tasks kept" ? values.at(-1) : median(values));
      return range ? [middle, renderRange(spread(values))] : [middle];
    }),
  ]);
  const title = `${heading} · ${rows[0]?.series.length ?? 0} ${section === "tasks kept" ? "samples, the last" : "rounds, medians"}`;
  return `${title}\n${renderTable(header, lines)}${section === "tasks kept" ? `\n${renderSeries(rows)}` : ""}`;
}

function renderSeries(rows: readonly Row[]): string {
  return rows
    .map(
      (row) =>
        `${row.arm}: ${valuesOf(row.series, "rssMb")
          .map((value) => value.toFixed(0))
          .join(" ")} MB`,
    )
    .join("\n");
}

function renderRatios({ ratios, spread: spreads, interval, targets }: BenchResult): string {
  const lines = Object.entries(ratios).map(([key, ratio]) => {
    const target = targets[key];
    const wanted = target === undefined ? "" : target.atLeast === undefined ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`;
    return [
      key,
      short(ratio),
      renderRange(spreads[key]),
      renderRange(interval[key]),
      wanted,
      target === undefined ? "" : `${target.met ? "met" : "missed"}${target.decided === false ? ", not decided" : ""}`,
    ];
  });
  return renderTable(["ratio (median of rounds)", "", "[p10, p90]", "95 % of median", "target", ""], lines);
}

function renderRange(range: readonly [number, number] | undefined): string {
  return range === undefined ? "" : `[${short(range[0])}, ${short(range[1])}]`;
}
