import { setTimeout as pause } from "node:timers/promises";
import { injectFaults } from "../faults/inject.js";
import { Hosts } from "../hosts/hosts.js";
import type { BenchEvent, BenchEventOf } from "../result/index.js";
import { phaseWithKill } from "./coordinator.js";
import { Stage } from "./stage.js";
import type { StageParts } from "./stage-parts.js";

/** The longest reason that is kept. */
const MAX_REASON = 2_000;

/** Executes one run and emits its events. Never throws for what happens inside the run: that is its status. */
export async function executeRun(parts: StageParts, attempt: number, signal: AbortSignal): Promise<BenchEventOf<"run-ended">> {
  const { planned, emit } = parts;
  const startedAt = performance.now();
  emit({ type: "run-started", run: planned.run, attempt, at: new Date().toISOString() });
  const end = (status: BenchEventOf<"run-ended">["status"], reason?: string): BenchEventOf<"run-ended"> => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const event = {
      type: "run-ended",
      run: planned.run,
      attempt,
      status,
      seconds,
      ...(reason === undefined ? {} : { reason }),
    } as const;
    emit(event);
    return event;
  };
  const hosts = await openHosts(parts);
  if (hosts instanceof Error) return end("failed", hosts.message.slice(0, MAX_REASON));
  const stage = new Stage(parts, hosts);
  // Ends every process, so that whatever is under way fails at once.
  const stop = (): void => void stage.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await stage.open();
    await measure(stage, parts, signal);
    await stage.close();
    return end("complete");
  } catch (thrown) {
    await stage.close();
    if (signal.aborted) return end("interrupted", "interrupted");
    return end("failed", (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, MAX_REASON));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Undefined: everything runs on this host. */
async function openHosts({ settings, startMs }: StageParts): Promise<Hosts | Error | undefined> {
  if (settings.hosts === undefined) return undefined;
  return Hosts.open(settings.hosts, startMs).catch((thrown: unknown) =>
    thrown instanceof Error ? thrown : new Error(String(thrown)),
  );
}

/** The window after a storm lasts at least this share of the whole, however long the victims took to start. */
export const AFTER_SHARE = 0.25;
const LOOK_EVERY_MS = 20;

/** Waits until every victim works again, or cannot be expected to, and then for the window after it. */
async function afterStorm(stage: Stage, { condition, settings, startMs }: StageParts, signal: AbortSignal): Promise<void> {
  const backNs = stage.now();
  const victims = new Set(condition.faults.map(({ victim, target }) => victim ?? target).filter((each) => !each.includes(">")));
  const until = performance.now() + startMs;
  while (performance.now() < until && [...victims].some((victim) => stage.servedNs(victim) < backNs))
    await pause(LOOK_EVERY_MS, undefined, { signal });
  await pause(settings.measureMs * AFTER_SHARE, undefined, { signal });
}

/**
 * The faults and the window of a run. A control of a storm only shows whether the times before the first fault can be believed: it ends
 * there, and no other number is taken from it.
 */
export function plannedWindow({ arm, condition, settings }: Pick<StageParts, "arm" | "condition" | "settings">) {
  const { faults, recovery } = condition;
  const { measureMs } = settings;
  if (recovery === undefined || arm.control === undefined) return { faults, isStorm: recovery !== undefined, measureMs };
  return { faults: [], isStorm: false, measureMs: Math.min(measureMs, ...faults.map(({ atMs }) => atMs)) };
}

async function measure(stage: Stage, parts: StageParts, signal: AbortSignal): Promise<void> {
  const { planned, settings, condition, emit } = parts;
  const { run } = planned;
  const { warmUpMs, requests } = settings;
  const { faults: injected, isStorm, measureMs } = plannedWindow(parts);
  const phase = (name: BenchEventOf<"phase">["phase"], ns: number): void =>
    emit({ type: "phase", run, phase: name, ns } satisfies BenchEvent);
  if (warmUpMs > 0) {
    phase("warm-up", stage.now());
    await stage.phase({ phase: "warm-up", forMs: warmUpMs, requests });
  }
  await stage.sample("measure");
  const faults = injectFaults(stage, injected, { run, emit, signal });
  // Awaited below; until then the window may fail first.
  faults.catch(() => undefined);
  const task = { phase: "measure", forMs: measureMs, requests, untilTold: isStorm } as const;
  const withinMs = measureMs + settings.messageTimeoutMs;
  const window =
    condition.coordinator === undefined
      ? stage.phase(task)
      : phaseWithKill(stage, task, condition.coordinator, { run, withinMs, signal, emit });
  window.catch(() => undefined);
  if (isStorm) {
    await faults;
    await afterStorm(stage, parts, signal);
    await stage.endPhase();
  }
  const done = await window;
  await faults;
  phase("measure", done.fromNs);
  phase("end", done.toNs);
  await stage.sample("end");
  // Not measured: shows that every agent answers again. After a storm each victim has been waited for.
  if (injected.length > 0 && !isStorm)
    await stage.phase({ phase: "warm-up", forMs: settings.messageTimeoutMs, requests: settings.agents });
  await stage.flush();
}
