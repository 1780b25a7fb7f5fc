import { AgentError } from "../../../src/index.js";
import { injectFaults } from "../faults/inject.js";
import type { BenchEvent, BenchEventOf } from "../result/index.js";
import { Stage, type StageParts } from "./stage.js";

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
  let stage: Stage | undefined;
  try {
    stage = await abortable(Stage.open(parts), signal);
    await abortable(measure(stage, parts, signal), signal);
    await stage.close();
    return end("complete");
  } catch (thrown) {
    await stage?.close();
    if (signal.aborted) return end("interrupted", "interrupted");
    return end("failed", AgentError.from(thrown).message.slice(0, 2_000));
  }
}

async function measure(stage: Stage, { planned, settings, condition, emit }: StageParts, signal: AbortSignal): Promise<void> {
  const { run } = planned;
  const { warmUpMs, measureMs, requests } = settings;
  const phase = (name: BenchEventOf<"phase">["phase"], ns: number): void =>
    emit({ type: "phase", run, phase: name, ns } satisfies BenchEvent);
  if (warmUpMs > 0) {
    phase("warm-up", stage.now());
    await stage.phase({ phase: "warm-up", forMs: warmUpMs, requests });
  }
  await stage.sample("measure");
  const faults = injectFaults(stage, condition.faults, { run, emit, signal });
  const done = await stage.phase({ phase: "measure", forMs: measureMs, requests });
  await faults;
  phase("measure", done.fromNs);
  phase("end", done.toNs);
  await stage.flush();
  await stage.sample("end");
}

/** The promise, or a rejection as soon as the signal aborts. A stage that opens afterwards is closed. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } catch (thrown) {
    void promise.then(closeLate, () => undefined);
    throw thrown;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function closeLate(opened: unknown): void {
  if (opened instanceof Stage) void opened.close();
}
