import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { BenchEvent, PlannedFault } from "../result/index.js";
import type { EdgeConditions } from "../wire/edge-proxy.js";

/** What faults are done to. */
export interface FaultStage {
  readonly now: () => number;
  workerOf(agent: string): {
    readonly worker: {
      readonly pid: number;
      readonly ended: Promise<string>;
      signal(signal: NodeJS.Signals): void;
      ask<T>(command: string, argument?: unknown): Promise<T>;
    };
    readonly port: number;
  };
  /** Whether connections to this agent are refused. */
  refuses(agent: string): Promise<boolean>;
  setEdge(edge: string, conditions: EdgeConditions): Promise<void>;
  markStopped(pid: number, isStopped: boolean): Promise<void>;
  restart(agent: string): Promise<void>;
  /** A victim is about to come back. */
  probe(agent: string): Promise<void>;
}

export interface FaultContext {
  readonly run: string;
  readonly signal: AbortSignal;
  emit(event: BenchEvent): void;
}

/** A death that is not seen within this time is an error of the harness. */
const VERIFY_MS = 5_000;
const LOOK_EVERY_MS = 1;

/**
 * Injects the planned faults at their times, counted from now, and takes them back. Faults of a later time wait until the earlier ones are
 * taken back: a process that is still starting cannot be killed again.
 */
export async function injectFaults(stage: FaultStage, faults: readonly PlannedFault[], context: FaultContext): Promise<void> {
  const from = performance.now();
  // Each fault listens while it lasts: a partition is one per edge, which Node would report as a leak.
  setMaxListeners(0, context.signal);
  for (const atMs of [...new Set(faults.map((fault) => fault.atMs))].sort((a, b) => a - b)) {
    await pause(Math.max(0, atMs - (performance.now() - from)), undefined, { signal: context.signal });
    await Promise.all(faults.filter((fault) => fault.atMs === atMs).map((fault) => injectFault(stage, fault, context)));
  }
}

async function injectFault(stage: FaultStage, fault: PlannedFault, { run, emit, signal }: FaultContext): Promise<void> {
  const { kind, target, forMs, victim = target } = fault;
  const begunNs = stage.now();
  const undo = await BEGIN[kind](stage, fault);
  emit({ type: "fault", run, kind, step: "begin", target, ns: begunNs, verifiedNs: stage.now() });
  await pause(forMs, undefined, { signal });
  // A link is no agent that could be asked.
  if (isAgent(victim)) await stage.probe(victim);
  const endedNs = stage.now();
  await undo();
  emit({ type: "fault", run, kind, step: "end", target, ns: endedNs, verifiedNs: stage.now() });
}

function isAgent(victim: string): boolean {
  return !victim.includes(">");
}

type Undo = () => Promise<void>;
type Begin = (stage: FaultStage, fault: PlannedFault) => Promise<Undo>;

/** Each begins a fault, verifies it, and returns how to take it back. */
const BEGIN: Readonly<Record<PlannedFault["kind"], Begin>> = {
  async kill(stage, { target }) {
    const { worker, port } = stage.workerOf(target);
    worker.signal("SIGKILL");
    await worker.ended;
    await until(() => !isAlive(worker.pid), `process ${worker.pid} to be gone`);
    await until(() => stage.refuses(target), `port ${port} to refuse connections`);
    return () => stage.restart(target);
  },
  async stop(stage, { target }) {
    const { worker } = stage.workerOf(target);
    await stage.markStopped(worker.pid, true);
    worker.signal("SIGSTOP");
    await until(() => isStopped(worker.pid), `process ${worker.pid} to stop`);
    return async () => {
      worker.signal("SIGCONT");
      await stage.markStopped(worker.pid, false);
    };
  },
  async listener(stage, { target }) {
    const { worker, port } = stage.workerOf(target);
    await worker.ask("closeListeners");
    await until(() => stage.refuses(target), `port ${port} to refuse connections`);
    return () => worker.ask("reopenListeners");
  },
  delay: (stage, { target, delayMs = 0 }) => edge(stage, target, { toAgentMs: delayMs, toCallerMs: delayMs }),
  loss: (stage, { target, share = 0 }) => edge(stage, target, { loss: share }),
  partition: (stage, { target }) => edge(stage, target, { partition: true }),
};

async function edge(stage: FaultStage, target: string, conditions: EdgeConditions): Promise<Undo> {
  await stage.setEdge(target, conditions);
  return () => stage.setEdge(target, {});
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const until = performance.now() + VERIFY_MS; !(await holds()); await pause(LOOK_EVERY_MS))
    if (performance.now() > until) throw new Error(`waited ${VERIFY_MS} ms for ${what}`);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Where there is no /proc, a signal that was sent has to be enough. */
function isStopped(pid: number): boolean {
  try {
    return /\) T /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}
