import { CASES } from "./cases.js";
import { writeEvidence } from "./folder.js";
import type { ProbeConfig, ProbeName } from "./probe-config.js";
import { probesOf } from "./probes/index.js";
import type { AttemptPlan } from "./probes/probe.js";
import type { SafetyEvent } from "./result/event.js";
import { Stage, type StageParts } from "./stage.js";

export interface TargetRun {
  readonly stage: StageParts;
  readonly config: ProbeConfig;
  readonly folder: string;
  readonly signal: AbortSignal;
  /** How often the target was begun, this time included. */
  readonly attempt: number;
  emit(event: SafetyEvent): void;
  onProbe(probe: ProbeName | undefined): void;
}

const REASON_CHARS = 500;

/** Starts the processes of one target, asks about the cases, runs every probe, and ends the processes. Never throws. */
export async function probeTarget(run: TargetRun): Promise<void> {
  const { emit, signal } = run;
  const target = run.stage.target.id;
  const began = performance.now();
  run.onProbe(undefined);
  let stage: Stage | undefined;
  const stop = (): void => void stage?.close();
  signal.addEventListener("abort", stop);
  let reason: string | null = null;
  try {
    stage = await Stage.open(run.stage);
    emit({ type: "target-started", target, attempt: run.attempt, members: [...stage.members] });
    await consult(stage, run);
    for (const probe of probesOf(run.config.probes)) {
      signal.throwIfAborted();
      run.onProbe(probe.name);
      const attempt = (plan: AttemptPlan): Promise<void> => executeAttempt(run, stage, probe.name, plan);
      await probe.run({ stage, config: run.config, signal, attempt });
    }
  } catch (thrown) {
    reason = (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, REASON_CHARS);
  } finally {
    signal.removeEventListener("abort", stop);
    await stage?.close();
  }
  const status = reason === null ? "complete" : signal.aborted ? "interrupted" : "failed";
  const seconds = (performance.now() - began) / 1_000;
  // A target that did not start has no other event.
  if (stage === undefined) emit({ type: "target-started", target, attempt: run.attempt, members: [] });
  emit({ type: "target-ended", target, status, reason: signal.aborted ? null : reason, seconds });
}

/** Each case goes to the first doctor, its advice to the second, and the second opinion back to the first. */
async function consult(stage: Stage, { config, emit }: TargetRun): Promise<void> {
  for (const { id, text } of CASES.slice(0, config.cases)) {
    let said = text;
    let answered = 0;
    const route = ["doctor_a", "doctor_b", "doctor_a"] as const;
    for (const doctor of route) {
      const { answer } = await stage.send({ doctor, text: said });
      if (answer !== `noted: ${said}`) break;
      answered++;
      said = answer;
    }
    emit({ type: "consultation", target: stage.target.id, case: id, answered, asked: route.length });
  }
}

async function executeAttempt(run: TargetRun, stage: Stage | undefined, probe: ProbeName, plan: AttemptPlan): Promise<void> {
  if (stage === undefined) return;
  run.signal.throwIfAborted();
  const { variant, round = 1, scored = true, refusals } = plan;
  const before = await stage.legitimateSucceeds();
  const { observed, evidence, controls = [] } = await plan.run();
  const after = await stage.legitimateSucceeds();
  const target = stage.target.id;
  const names = [target, probe, `${variant}-${round}`];
  const path = writeEvidence(run.folder, names, { target, probe, variant, round, observed, ...evidence }, stage.secrets);
  run.emit({
    type: "attempt",
    target,
    probe,
    variant,
    round,
    scored,
    refusals,
    observed,
    before,
    after,
    controls,
    evidence: path,
  });
}
