import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isSame } from "../../harness/conclude.js";
import type { BenchContext } from "../../harness/driver.js";
import type { Measurement, Row } from "../../harness/result.js";
import { runSection } from "../../harness/rounds.js";
import { FLOORS, START, STARTS, type Start } from "./ratios.js";

export interface StartBench extends BenchContext {
  readonly node: string;
  readonly rounds: number;
  /** Milliseconds since the epoch: rounds that do not fit are skipped, except the first. */
  readonly endAtMs: number;
}

/** So many times the planned rounds are run at most. */
const MOST_TIMES = 10;
/** A start that takes longer is considered hung. */
const START_MS = 60_000;
const REPORT = fileURLToPath(new URL("report-cpu.cjs", import.meta.url));

/** Every start once per round, each in a process of its own. */
export function runStarts({ dist, node, progress, rounds, endAtMs }: StartBench): Promise<readonly Row[]> {
  const again = (done: number, rows: readonly Row[]): boolean =>
    done < rounds || (done < MOST_TIMES * rounds && isSame(FLOORS, rows) !== true);
  return runSection({
    name: START,
    arms: STARTS.map((start) => ({ name: start.arm, measure: () => measure(node, argumentsOf(start, dist)) })),
    again: (done, rows) => done === 0 || (Date.now() < endAtMs && again(done, rows)),
    onStep: (round, arm) => progress.show(`start · round ${round + 1} · ${arm}`),
  });
}

function argumentsOf({ imports, runs: [file, ...rest] = [] }: Start, dist: string): readonly string[] {
  if (file !== undefined) return [join(dist, file), ...rest];
  const text = imports === undefined ? "" : `import ${JSON.stringify(pathToFileURL(join(dist, imports)).href)};`;
  return imports === undefined ? ["-e", text] : ["--input-type=module", "-e", text];
}

function measure(node: string, argv: readonly string[]): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = spawn(node, ["--require", REPORT, ...argv], {
      stdio: ["ignore", "ignore", "inherit", "pipe"],
      timeout: START_MS,
    });
    let told = "";
    child.stdio[3]?.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      const p50Us = (performance.now() - from) * 1000;
      if (code === 0 && told !== "") resolve({ cpuUs: Number(told), p50Us });
      else reject(new Error(`node ${argv.join(" ")} ended with ${code}`));
    });
  });
}
