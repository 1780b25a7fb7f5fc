import { join } from "node:path";
import { startWorker, type Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Window } from "../../harness/tally.js";
import { measureEcho } from "./measure-echo.js";
import type { PlacedArm } from "./placed-arm.js";
import { BATCH_CASE, ECHO_CASES, PLAIN_SERVER, type SageKind, SERVERS, WORK_CASES } from "./sage-cases.js";
import type { EchoStage } from "./session-echo.js";
import type { WorkOrder, WorkTime } from "./workers/sage-work.js";
import type { EchoOrder } from "./workload.js";

function workerFile(dist: string, file: string): string {
  return join(dist, "bench", "micro", "security", "workers", `${file}.js`);
}

/** Messages that are verified, opened, sealed and signed, against an HTTP server that calls the same primitives bare. */
export async function sageEchoArms({ dist, cores, window, warmUpMs, quick }: EchoStage): Promise<readonly PlacedArm[]> {
  const load = startWorker("sage load", workerFile(dist, "sage-load"), { core: cores.load });
  const started: Started[] = [];
  for (const [arm, kind] of quick ? SERVERS : [...SERVERS, PLAIN_SERVER]) {
    const server = startWorker(arm, workerFile(dist, "sage-echo"), { core: cores.server });
    started.push({ arm, server, kind, port: await server.ask<number>("start", kind) });
  }
  const arms: PlacedArm[] = [];
  for (const { key, bytes, warmUpMessages, minAnswers } of ECHO_CASES) {
    for (const each of started) {
      const run = (during: Window) => measure(each, load, { bytes, inFlight: 1, window: during });
      await run({ rampMs: 0, windowMs: warmUpMs, minAnswers: warmUpMessages });
      arms.push({ section: key, arm: each.arm, measure: () => run({ ...window, minAnswers }) });
    }
  }
  return arms;
}

interface Started {
  readonly arm: string;
  readonly server: Worker;
  readonly kind: SageKind;
  readonly port: number;
}

async function measure({ server, kind, port }: Started, load: Worker, order: EchoOrder): Promise<Measurement> {
  await load.ask("open", { port, kind });
  return measureEcho(server, load, order);
}

/** Batches in one process that is not pinned: its threads use every core. */
export async function sageBatchArms({ dist, window, warmUpMs }: EchoStage): Promise<readonly PlacedArm[]> {
  const worker = startWorker("sage batch", workerFile(dist, "sage-batch"), { core: undefined });
  const { key, arms } = BATCH_CASE;
  const placed: PlacedArm[] = [];
  for (const arm of arms) {
    const run = (sliceMs: number) => worker.ask<Measurement>("run", { threads: arm === "threads", sliceMs });
    await run(warmUpMs);
    placed.push({ section: key, arm, measure: () => run(window.windowMs) });
  }
  return placed;
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
