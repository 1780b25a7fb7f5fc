import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Conclusion } from "../../harness/conclude.js";
import { type BenchContext, closeCalls, resultOf } from "../../harness/driver.js";
import { hasH2load } from "../../harness/h2load.js";
import { stopAllWorkers } from "../../harness/processes.js";
import type { BenchResult, Machine, Row } from "../../harness/result.js";
import { runSection } from "../../harness/rounds.js";
import { median } from "../../harness/statistics.js";
import type { Window } from "../../harness/tally.js";
import { CONNECTIONS } from "../a2a/workload.js";
import type { Options } from "./options.js";
import { hasStreams, needsTool, type Pair } from "./pairs.js";
import {
  concludeGateway,
  isProxySettled,
  type SectionKind,
  sectionOf,
  targetsOf,
  undecidedTargets,
  verdictOfGateway,
} from "./ratios.js";
import { setStage, type Work } from "./stage.js";

/** One section of a pair, and its warm-up. */
const WORK: Readonly<Record<SectionKind, Work & { readonly warmUp: Window }>> = {
  throughput: {
    what: "send",
    connections: CONNECTIONS,
    sliceMs: 200,
    // So many that a gateway is compiled as well as the proxy before it counts: it has a hundred times its code. The CPU time of a relayed
    // message was 1.7 times the proxy's after 4,000 of them, 1.6 after 8,000 and 1.3 after 20,000.
    warmUp: { rampMs: 0, windowMs: 500, minAnswers: 25_000 },
  },
  latency: { what: "send", connections: "single", sliceMs: 150, warmUp: { rampMs: 0, windowMs: 100 } },
  streams: {
    what: "stream",
    connections: CONNECTIONS,
    sliceMs: 250,
    warmUp: { rampMs: 0, windowMs: 500, minAnswers: 3_000 },
  },
};
const QUICK_BUDGET_MS = 240_000;
/** The time of one pair in a full run. */
const PAIR_BUDGET_MS = 120_000;
/** The share of the time that a pair has left when a section has warmed up: whatever the warm-up took, each has time to measure. */
const SHARE: Readonly<Record<SectionKind, number>> = { throughput: 0.35, latency: 0.45, streams: 1 };
/** Rounds that are run without regard to time: fewer have no interval. */
const LEAST_ROUNDS = 6;
/** Below this share of its core the proxy was not the bottleneck, and the ratios are too favourable. */
const BUSY = 0.85;

/** Runs the sections that the options select. */
export async function runGateway(options: Options, context: BenchContext): Promise<BenchResult> {
  const pairs = options.pairs.filter((pair) => !needsTool(pair) || hasH2load());
  const rows: Row[] = [];
  for (const [index, pair] of pairs.entries()) {
    const perPairMs = (context.startedAtMs + QUICK_BUDGET_MS - Date.now()) / (pairs.length - index);
    const budgetMs = options.mode === "quick" ? perPairMs : PAIR_BUDGET_MS;
    rows.push(...(await runPair(pair, options, { ...context, budgetMs })));
    // Each pair starts fresh: idle processes with full heaps would disturb it.
    stopAllWorkers();
  }
  const conclusion = concludeGateway(pairs, rows);
  const notes = [
    ...undecidedNote(undecidedTargets(pairs, conclusion)),
    ...notesOf(context.machine, rows, conclusion, options.pairs.length - pairs.length),
  ];
  const wanted = targetsOf(options.pairs);
  const result = resultOf(context, {
    bench: "gateway",
    mode: options.mode,
    rows,
    conclusion,
    wanted,
    precision: "interval",
    notes,
  });
  return { ...result, verdict: verdictOfGateway(options.pairs, conclusion) };
}

interface PairRun extends BenchContext {
  /** How long the whole pair may take. */
  readonly budgetMs: number;
}

async function runPair(pair: Pair, { mode, rounds }: Options, run: PairRun): Promise<readonly Row[]> {
  const { dist, cores, progress, budgetMs } = run;
  const folder = mode === "quick" ? undefined : mkdtempSync(join(tmpdir(), "koine-bench-gateway-"));
  const beganAt = Date.now();
  progress.show(`${pair.name} starts`);
  try {
    const stage = await setStage(pair, { dist, cores, folder });
    const section = async (kind: SectionKind): Promise<readonly Row[]> => {
      const { warmUp, ...work } = WORK[kind];
      progress.show(`${pair.name} · ${kind} warms up`);
      const arms = await stage.arms(work, warmUp);
      const endsAt = Date.now() + (beganAt + budgetMs - Date.now()) * SHARE[kind];
      return runSection({
        name: sectionOf(pair, kind),
        arms,
        again: (done, sofar) => {
          const wanted = done < rounds || !isProxySettled(pair, kind, sofar);
          return done < LEAST_ROUNDS || (wanted && Date.now() < endsAt);
        },
        onStep: (round, arm) => progress.show(`${pair.name} · ${kind} · round ${round + 1}, at least ${rounds} · ${arm}`),
      });
    };
    const kinds: readonly SectionKind[] = hasStreams(pair) ? ["throughput", "latency", "streams"] : ["throughput", "latency"];
    const rows: Row[] = [];
    for (const kind of kinds) rows.push(...(await section(kind)));
    return rows;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function undecidedNote(keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  return [
    `The proxy of the same pair and section was not within 0.97 to 1.03 of itself, so these are not decided: ${keys.join(", ")}.`,
  ];
}

function notesOf(machine: Machine, rows: readonly Row[], conclusion: Conclusion, leftOut: number): readonly string[] {
  const notes: string[] = [...closeCalls(conclusion)];
  const idle = rows.filter((row) => row.arm === "proxy" && row.section.endsWith("throughput") && busyOf(row) < BUSY);
  if (idle.length > 0)
    notes.push(
      `The proxy had its core busy for less than ${BUSY * 100} % of the time: ${idle.map(({ section }) => section).join(", ")}. Compare CPU times there.`,
    );
  if (machine.loadBefore > machine.cores / 2)
    notes.push(`The machine was busy before the run began (load ${machine.loadBefore.toFixed(1)} on ${machine.cores} cores).`);
  if (leftOut > 0)
    notes.push(`${leftOut} pairs with gRPC were left out: h2load (Debian's nghttp2-client) is not on this machine.`);
  if (!machine.pinned) notes.push("Gateways and load could not be pinned to different cores; expect more noise.");
  return notes;
}

/** The share of its core that the arm used, by the median. */
function busyOf({ series }: Row): number {
  return median(series.map(({ cpuUs = 0, perSecond = 0 }) => (cpuUs * perSecond) / 1e6));
}
