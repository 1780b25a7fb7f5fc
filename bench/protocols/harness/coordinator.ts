import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "../faults/inject.js";
import type { PhaseDone, PhaseTask } from "../processes/tasks.js";
import type { BenchEvent, Condition } from "../result/index.js";
import type { Stage } from "./stage.js";

interface KillContext {
  readonly run: string;
  readonly withinMs: number;
  readonly signal: AbortSignal;
  emit(event: BenchEvent): void;
}

/** The name of the coordinator in events: it is the caller of the run. */
const TARGET = "caller";

/** A phase whose coordinator is killed in the middle. The next one goes on with the queue. */
export async function phaseWithKill(
  stage: Stage,
  task: PhaseTask,
  { killAt, downForMs }: NonNullable<Condition["coordinator"]>,
  { run, withinMs, signal, emit }: KillContext,
): Promise<PhaseDone> {
  const cut = stage.phase(task).then(
    () => new Error(`the queue was empty before entry ${killAt}, so that the coordinator was never killed`),
    () => undefined,
  );
  const early = await Promise.race([stage.whenRecorded(killAt, withinMs).catch((thrown: unknown) => thrown), cut]);
  if (early instanceof Error) throw early;
  const ns = stage.now();
  const pid = await stage.killCaller();
  if (isAlive(pid)) throw new Error(`the coordinator ${pid} was killed and is still there`);
  await cut;
  emit({ type: "fault", run, kind: "kill", step: "begin", target: TARGET, ns, verifiedNs: stage.now() });
  await pause(downForMs, undefined, { signal });
  const startedNs = stage.now();
  await stage.startCaller();
  emit({ type: "fault", run, kind: "kill", step: "end", target: TARGET, ns: startedNs, verifiedNs: stage.now() });
  return stage.phase(task);
}
