import { mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter } from "vitest/node";
import { type CoverageGroup, GROUPS, groupOf, MEASURES, type Measure } from "./groups.js";

/** What is read of an istanbul coverage map. */
export interface CoverageMap {
  files(): readonly string[];
  fileCoverageFor(file: string): { toSummary(): Readonly<Record<Measure, Counted>> };
}

interface Counted {
  readonly total: number;
  readonly covered: number;
}

/** The coverage of one group. */
export interface GroupCoverage {
  readonly group: CoverageGroup;
  readonly files: number;
  readonly percent: Readonly<Record<Measure, number>>;
  /** Below what the group requires. A group without files is below everything: its patterns match nothing any more. */
  readonly below: readonly Measure[];
}

/** Sums a coverage map by group. */
export function coverageByGroup(map: CoverageMap, root: string): readonly GroupCoverage[] {
  return GROUPS.map((group) => {
    const summaries = map
      .files()
      .filter((file) => groupOf(relative(root, file)) === group)
      .map((file) => map.fileCoverageFor(file).toSummary());
    const percent = Object.fromEntries(
      MEASURES.map((measure) => [measure, percentOf(summaries.map((each) => each[measure]))]),
    ) as Record<Measure, number>;
    return {
      group,
      files: summaries.length,
      percent,
      below: MEASURES.filter((measure) => percent[measure] < group.least[measure]),
    };
  });
}

function percentOf(counts: readonly Counted[]): number {
  const total = counts.reduce((sum, each) => sum + each.total, 0);
  const covered = counts.reduce((sum, each) => sum + each.covered, 0);
  return total === 0 ? 0 : (100 * covered) / total;
}

/** The table that a run prints. */
export function coverageTable(groups: readonly GroupCoverage[]): string {
  const rows = groups.map(({ group, files, percent, below }) => {
    const cells = MEASURES.map((measure) => `${percent[measure].toFixed(1)} (${group.least[measure]})`.padStart(12));
    return `${group.name.padEnd(16)}${String(files).padStart(6)}${cells.join("")}${below.length === 0 ? "" : `  too few ${below.join(", ")}`}`;
  });
  const head = `${"percent (least)".padEnd(16)}${"files".padStart(6)}${MEASURES.map((name) => name.padStart(12)).join("")}`;
  return [head, ...rows].join("\n");
}

/** Prints the coverage of each group at the end of a run, and fails the run below what a group requires. */
export class CoverageGate implements Reporter {
  onCoverage(map: unknown): void {
    const groups = coverageByGroup(map as CoverageMap, process.cwd());
    process.stdout.write(`\n${coverageTable(groups)}\n\n`);
    if (groups.every(({ below }) => below.length === 0)) return;
    process.exitCode = 1;
    // CI runs failed files again, and must not take too little coverage for a failed test.
    mkdirSync(".cache", { recursive: true });
    writeFileSync(".cache/coverage-too-low", "");
  }
}
