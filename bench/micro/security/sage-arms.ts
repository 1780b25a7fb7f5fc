import { join } from "node:path";
import { pairedArms } from "../../harness/paired-arms.js";
import { startWorker, type Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Slice } from "../../harness/tally.js";
import type { PlacedArm } from "./placed-arm.js";
import { BATCH_ARMS, BATCH_CASES, BESIDE, BOUND_ARMS, BOUND_CASE, ECHO_CASES, SERVERS, WORK_CASES } from "./sage-cases.js";
import type { EchoStage } from "./session-echo.js";
import type { BareVerifyOrder } from "./workers/bare-verify.js";
import type { BatchOrder } from "./workers/sage-batch.js";
import type { EchoTurns, SageTarget } from "./workers/sage-load.js";
import type { WorkOrder, WorkTime } from "./workers/sage-work.js";

function workerFile(dist: string, file: string): string {
  return join(dist, "bench", "micro", "security", "workers", `${file}.js`);
}

/**
 * Messages that are verified, opened, sealed and signed, against an HTTP server that calls the same primitives bare. One load process calls the
 * servers in turns within each slice; of each the CPU time per message counts.
 */
export async function sageEchoArms({ dist, cores, window, quick }: EchoStage): Promise<readonly PlacedArm[]> {
  const load = startWorker("sage load", workerFile(dist, "sage-load"), { core: cores.load });
  const servers: Worker[] = [];
  const targets: SageTarget[] = [];
  const wanted = quick ? SERVERS : [...SERVERS, ...BESIDE];
  for (const [arm, kind] of wanted) {
    const server = startWorker(arm, workerFile(dist, "sage-echo"), { core: cores.server });
    servers.push(server);
    targets.push({ kind, port: await server.ask<number>("start", kind) });
  }
  const arms: PlacedArm[] = [];
  for (const { key, bytes, warmUpMessages } of ECHO_CASES) {
    const run = (sliceMs: number, minAnswers?: number) =>
      echoTurns(load, servers, { targets, bytes, sliceMs, ...(minAnswers && { minAnswers }) });
    // Each server has two turns.
    await run(0, warmUpMessages / 2);
    const names = wanted.map(([arm]) => arm);
    const paired = pairedArms(names, () => run(window.windowMs * names.length));
    arms.push(...paired.map(({ name, measure }) => ({ section: key, arm: name, measure })));
  }
  return arms;
}

async function echoTurns(load: Worker, servers: readonly Worker[], order: EchoTurns): Promise<readonly Measurement[]> {
  const usages = () => Promise.all(servers.map((server) => server.usage()));
  const before = await usages();
  const slices = await load.ask<readonly Slice[]>("turns", order);
  const after = await usages();
  return slices.map(({ counted, completed, windowMs, p50Us, p99Us }, index) => {
    const cpuUs = ((after[index]?.cpuUs ?? Number.NaN) - (before[index]?.cpuUs ?? Number.NaN)) / completed;
    return { perSecond: (counted / windowMs) * 1_000, p50Us, p99Us, cpuUs, requests: counted };
  });
}

/** Batches in one process that is not pinned: its threads use every core. Each slice has all arms, in turns. */
export async function sageBatchArms({ dist, window, warmUpMs }: EchoStage): Promise<readonly PlacedArm[]> {
  const worker = startWorker("sage batch", workerFile(dist, "sage-batch"), { core: undefined });
  const placed: PlacedArm[] = [];
  for (const { key, size } of BATCH_CASES) {
    const threads = BATCH_ARMS.map((arm) => arm === "threads");
    const run = (sliceMs: number) => worker.ask<readonly Measurement[]>("run", { size, threads, sliceMs } satisfies BatchOrder);
    await run(warmUpMs);
    const arms = pairedArms(BATCH_ARMS, () => run(window.windowMs));
    placed.push(...arms.map(({ name, measure }) => ({ section: key, arm: name, measure })));
  }
  return placed;
}

/** The same signatures without anything else, in one process and in two. */
export async function batchBoundArms({ dist, window, warmUpMs }: EchoStage): Promise<readonly PlacedArm[]> {
  const workers = ["bare one", "bare two"].map((name) => startWorker(name, workerFile(dist, "bare-verify"), { core: undefined }));
  const run = async (processes: number, sliceMs: number): Promise<Measurement> => {
    const used = workers.slice(0, processes);
    const rates = await Promise.all(used.map((worker) => worker.ask<number>("run", { sliceMs } satisfies BareVerifyOrder)));
    return { perSecond: rates.reduce((sum, rate) => sum + rate, 0) };
  };
  await run(workers.length, warmUpMs);
  return BOUND_ARMS.map((arm) => {
    const processes = arm === "two processes" ? workers.length : 1;
    return { section: BOUND_CASE.key, arm, measure: () => run(processes, window.windowMs) };
  });
}

/** Handshakes and resolutions in one process; the chain is a process beside it. Full runs only: they have no target. */
export async function sageWorkArms({ dist, cores, window, warmUpMs, quick }: EchoStage): Promise<readonly PlacedArm[]> {
  if (quick) return [];
  const worker = startWorker("sage work", workerFile(dist, "sage-work"), { core: cores.server });
  const placed: PlacedArm[] = [];
  for (const { key, floor, arms } of WORK_CASES) {
    for (const arm of [floor, ...arms]) {
      const run = (sliceMs: number) => worker.ask<WorkTime>("run", { arm, sliceMs } satisfies WorkOrder);
      await run(warmUpMs);
      const timed = async (): Promise<Measurement> => {
        const { cpuUs, wallUs } = await run(window.windowMs);
        return { cpuUs, p50Us: wallUs };
      };
      placed.push({ section: key, arm, measure: timed });
    }
  }
  return placed;
}
