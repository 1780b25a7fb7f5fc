import { CONFORMANCE_AREAS, type ConformanceArea } from "../src/protocols/requirement.js";
import type { Report, RequirementResult } from "./run.js";

/** One cell: how many of the requirements that applied were met. */
export interface Cell {
  readonly met: number;
  readonly applied: number;
  readonly skipped: number;
}

/** The seed's grid (G.6): six capabilities down, wires across. */
export interface Grid {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly capability: ConformanceArea; readonly cells: readonly Cell[] }[];
}

/** A report as the seed's grid. Pure: the same report gives the same grid. */
export function toGrid({ verdicts }: Pick<Report, "verdicts">): Grid {
  const columns = [...new Set(verdicts.map(columnOf))];
  const rows = CONFORMANCE_AREAS.map((capability) => {
    const here = verdicts.filter((result) => result.capability === capability);
    return { capability, cells: columns.map((column) => toCell(here.filter((result) => columnOf(result) === column))) };
  });
  return { columns, rows };
}

function columnOf({ protocol, wire }: RequirementResult): string {
  return wire === undefined ? protocol : `${protocol} ${wire.version} ${wire.binding}`;
}

function toCell(verdicts: readonly RequirementResult[]): Cell {
  const skipped = verdicts.filter(({ outcome }) => outcome === "skipped").length;
  const met = verdicts.filter(({ outcome }) => outcome === "met" || outcome === "stale gap").length;
  return { met, applied: verdicts.length - skipped, skipped };
}

function words({ met, applied }: Cell): string {
  if (applied === 0) return "–";
  return met === applied ? `✓ ${met}` : `✗ ${met}/${applied}`;
}

/** The grid as a text table. */
export function formatGrid(grid: Grid): string {
  const lines = [["", ...grid.columns], ...grid.rows.map(({ capability, cells }) => [capability, ...cells.map(words)])];
  const widths = lines[0]?.map((_head, column) => Math.max(...lines.map((line) => [...(line[column] ?? "")].length))) ?? [];
  const pad = (cell: string, column: number): string => cell + " ".repeat((widths[column] ?? 0) - [...cell].length);
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

/** The grid as a Markdown table, for generated pages. */
export function formatGridMarkdown(grid: Grid): string {
  const head = `| capability | ${grid.columns.join(" | ")} |`;
  const rule = `|---|${grid.columns.map(() => "---|").join("")}`;
  return [head, rule, ...grid.rows.map(({ capability, cells }) => `| ${capability} | ${cells.map(words).join(" | ")} |`)].join(
    "\n",
  );
}

const MARKS = { unmet: "✗", "known gap": "○", "stale gap": "!", met: "✓", skipped: "–" } as const;

/** Every result that is not met, with its detail; skipped ones once per reason. */
export function formatDetails({ verdicts, counts }: Pick<Report, "verdicts" | "counts">): string {
  const lines: string[] = [];
  for (const { outcome, id, level, behaviour, source, detail } of verdicts) {
    if (outcome === "met" || outcome === "skipped") continue;
    lines.push(`${MARKS[outcome]} ${id} (${level}, ${source})`, `    ${behaviour}`, `    ${outcome}: ${detail ?? ""}`);
  }
  const reasons = new Map<string, number>();
  for (const { outcome, detail = "" } of verdicts) if (outcome === "skipped") reasons.set(detail, (reasons.get(detail) ?? 0) + 1);
  for (const [reason, count] of reasons) lines.push(`${MARKS.skipped} ${count} skipped: ${reason}`);
  lines.push(
    Object.entries(counts)
      .map(([outcome, count]) => `${count} ${outcome}`)
      .join(", "),
  );
  return lines.join("\n");
}
