import { type Cores, stopAllWorkers } from "../../harness/processes.js";
import type { Progress } from "../../harness/progress.js";
import type { Row } from "../../harness/result.js";
import { runSection } from "../../harness/rounds.js";
import type { Window } from "../../harness/tally.js";
import { cryptoArms, stopOwnRedis } from "./crypto-arms.js";
import type { PlacedArm } from "./placed-arm.js";
import { isSettled } from "./ratios.js";
import { batchBoundArms, sageBatchArms, sageEchoArms, sageWorkArms } from "./sage-arms.js";
import { sealedArms } from "./sealed-echo.js";
import { echoArms } from "./session-echo.js";

export interface SecurityBench {
  readonly dist: string;
  readonly cores: Cores;
  readonly progress: Progress;
  readonly rounds: number;
  readonly quick: boolean;
  /** Only this one. */
  readonly group: string | undefined;
  readonly window: Window;
  readonly warmUpMs: number;
  /** Milliseconds since the epoch: further rounds that do not fit are skipped. The planned ones are run: fewer decide nothing. */
  readonly endAtMs: number;
}

/** Arms that are interleaved with each other. */
interface Group {
  readonly name: string;
  /** Starts the processes and warms them up. */
  arms(bench: SecurityBench): Promise<readonly PlacedArm[]>;
}

/** Measured one after the other, in the order of the table. */
const GROUPS: readonly Group[] = [
  { name: "session echo", arms: echoArms },
  { name: "sealed sessions", arms: sealedArms },
  { name: "SAGE echo", arms: sageEchoArms },
  { name: "SAGE batches", arms: sageBatchArms },
  { name: "bound of batches", arms: batchBoundArms },
  { name: "SAGE handshakes and resolution", arms: sageWorkArms },
  { name: "sealed records", arms: (bench) => cryptoArms("records", bench) },
  { name: "HTTP signatures", arms: (bench) => cryptoArms("signatures", bench) },
  { name: "replay guards", arms: (bench) => cryptoArms("replays", bench) },
];

export const GROUP_NAMES: readonly string[] = GROUPS.map(({ name }) => name);

/** Every group, or one, each with an equal share of the time that is left. */
export async function runSecurity(bench: SecurityBench): Promise<readonly Row[]> {
  try {
    return await runGroups(bench);
  } finally {
    await stopOwnRedis();
  }
}

async function runGroups(bench: SecurityBench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const groups = GROUPS.filter(({ name }) => bench.group === undefined || name === bench.group);
  for (const [index, group] of groups.entries()) {
    const endAtMs = Date.now() + (bench.endAtMs - Date.now()) / (groups.length - index);
    rows.push(...(await runGroup({ ...bench, endAtMs }, group)));
    // Each group starts fresh: idle servers with full heaps would disturb it.
    stopAllWorkers();
  }
  return rows;
}

/** So many times the planned rounds are run at most, while a floor or a target is not known well enough. */
const MOST_TIMES = 20;

/** The planned rounds, and more until floors and targets are settled or the time is up. */
async function runGroup(bench: SecurityBench, { name, arms: start }: Group): Promise<readonly Row[]> {
  const { progress, rounds, endAtMs } = bench;
  progress.show(`${name} warms up`);
  const arms = await start(bench);
  if (arms.length === 0) return [];
  const placed = (rows: readonly Row[]) => arms.map(({ section, arm }, at) => ({ section, arm, series: rows[at]?.series ?? [] }));
  const startedAtMs = Date.now();
  const fits = (done: number) => Date.now() + (Date.now() - startedAtMs) / done < endAtMs;
  const wanted = (done: number, rows: readonly Row[]) => done < MOST_TIMES * rounds && fits(done) && !isSettled(placed(rows));
  const rows = await runSection({
    name,
    arms: arms.map(({ section, arm, measure }) => ({ name: `${section} ${arm}`, measure })),
    again: (done, sofar) => done < rounds || wanted(done, sofar),
    onStep: (round, arm) => progress.show(`${name} · round ${round + 1} of ${rounds} · ${arm}`),
  });
  return placed(rows);
}
