import { type Conclusion, type Figure, type RatioDefinition, valuesOf, withFigure } from "../../harness/conclude.js";
import type { Titles } from "../../harness/report.js";
import type { Metric, Row } from "../../harness/result.js";

/** The published numbers of this benchmark and their targets. */

export const START = "start";
export const EMPTY = 'node -e ""';

export const FLOORS: RatioDefinition = {
  key: "floor_vs_floor",
  section: START,
  of: `${EMPTY} again`,
  over: EMPTY,
  metric: "cpuUs",
};

/** What is started: a module that is imported, or a program with its arguments. */
export interface Start {
  readonly key: string;
  readonly arm: string;
  readonly imports?: string;
  readonly runs?: readonly string[];
  /** Milliseconds of CPU time above an empty Node. */
  readonly atMost?: number;
}

export const STARTS: readonly Start[] = [
  { key: "floor", arm: EMPTY },
  { key: "floor_again", arm: `${EMPTY} again` },
  { key: "import_koine", arm: 'import "koine"', imports: "src/index.js", atMost: 60 },
  { key: "import_router", arm: 'import "koine/router"', imports: "src/router/index.js", atMost: 60 },
  { key: "cli_help", arm: "koine --help", runs: ["apps/cli/main.js", "--help"], atMost: 90 },
];

export const TARGETS: readonly string[] = STARTS.flatMap(({ key, atMost }) => (atMost === undefined ? [] : [addedCpu(key)]));

export const TITLES: Titles = { [START]: "A fresh process, from its start to its exit" };

function addedCpu(key: string): string {
  return `${key}_added_cpu_ms`;
}

/** Each start less the empty one of its round. */
export function concludeStart(floors: Conclusion, rows: readonly Row[]): Conclusion {
  const added = (arm: string, metric: Metric): readonly number[] => {
    const [of, empty] = [arm, EMPTY].map((name) => valuesOf(rows.find((row) => row.arm === name)?.series ?? [], metric));
    return (of ?? []).map((value, round) => (value - (empty?.[round] ?? Number.NaN)) / 1000);
  };
  const figures = STARTS.flatMap(({ key, arm, atMost }): readonly Figure[] =>
    atMost === undefined
      ? []
      : [
          { key: addedCpu(key), values: added(arm, "cpuUs"), atMost },
          { key: `${key}_added_ms`, values: added(arm, "p50Us") },
        ],
  );
  return figures.reduce(withFigure, floors);
}
