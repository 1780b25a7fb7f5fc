import { join } from "node:path";
import type { EntrySource } from "../entries/entry.js";
import { entriesInput } from "../entries/read-entries.js";
import { dropCutLine, EventsFile, readEvents } from "../folder/events-file.js";
import {
  FILES,
  FolderError,
  IDENTITIES,
  prepareFolder,
  readManifest,
  removeIdentities,
  STATE,
  writeJson,
  writeSchema,
} from "../folder/folder.js";
import { beginManifest } from "../folder/manifest.js";
import type { ModelSettings } from "../models/settings.js";
import type { Program } from "../processes/tasks.js";
import type {
  Arm,
  BenchEvent,
  BenchEventOf,
  BenchResult,
  Condition,
  Manifest,
  ManifestInput,
  Plan,
  PlannedRun,
} from "../result/index.js";
import { warmUpMsOf } from "./plan-runs.js";
import type { ProgramFiles } from "./programs.js";
import { Recorder } from "./recorder.js";
import { executeRun } from "./run.js";

/** How far a benchmark is. */
export interface BenchProgress {
  readonly done: number;
  readonly runs: number;
  readonly current: PlannedRun;
  /** Estimated from the runs so far; undefined before the first has ended. */
  readonly remainingMs: number | undefined;
}

export interface BenchOptions {
  readonly folder: string;
  readonly plan: Plan;
  readonly model: ModelSettings;
  /** What requests carry, in scenarios with a queue. */
  readonly entries?: EntrySource | undefined;
  /** What the behaviour of the agents is given, in scenarios with one. Must be cloneable. */
  readonly data?: unknown;
  /** The same, where it depends on the plan of the folder and on the condition. */
  dataFor?(plan: Plan, condition: Condition): unknown;
  readonly files: ProgramFiles;
  readonly koine: string;
  readonly signal: AbortSignal;
  /** Write into a folder that is not empty. */
  readonly force?: boolean;
  /** Go on where the folder ends, with the plan that it has. */
  readonly resume?: boolean;
  readonly basePort?: number | undefined;
  readonly startMs?: number;
  readonly inputs?: readonly ManifestInput[];
  readonly versions?: Readonly<Record<string, string>>;
  /** The programs of an implementation that is not ours. */
  programsOf?(arm: Arm): { readonly agent: Program; readonly caller: Program } | undefined;
  onProgress?(progress: BenchProgress): void;
}

const START_MS = 30_000;
/** A fault lasts; the window is then limited by time alone. */
const REQUESTS_UNDER_FAULTS = 1_000_000;
/** After so many failed runs in a row something is wrong that the next run will not mend. */
const MAX_FAILURES = 3;

/** Measures what the plan says, or what is left of it, and returns the result that it has written. */
export async function runBench(options: BenchOptions): Promise<BenchResult> {
  const { folder } = options;
  const begun = options.resume === true ? await reopen(options) : begin(options);
  const { plan, events, manifest } = begun;
  const file = new EventsFile(join(folder, FILES.events));
  const recorder = new Recorder(folder, file, events);
  recorder.emit({ type: "plan", plan });
  recorder.save();
  await executeRuns(plan, { ...options, signal: AbortSignal.any([options.signal, recorder.signal]) }, recorder);
  removeIdentities(folder);
  recorder.finish(manifest);
  if (recorder.error !== undefined) throw recorder.error;
  return recorder.result;
}

interface Begun {
  readonly plan: Plan;
  readonly events: BenchEvent[];
  readonly manifest: Manifest;
}

function begin({ folder, force = false, plan, koine, model, entries, versions = {}, inputs = [] }: BenchOptions): Begun {
  prepareFolder(folder, force);
  const data = entries === undefined ? [] : [entriesInput(entries)];
  const manifest = beginManifest({ koine, plan, model, versions, inputs: [...data, ...inputs] });
  writeJson(folder, FILES.manifest, manifest);
  writeSchema(folder);
  return { plan, events: [], manifest };
}

async function reopen({ folder, model, entries }: BenchOptions): Promise<Begun> {
  const manifest = readManifest(folder);
  const path = join(folder, FILES.events);
  const read = await readEvents(path).catch((thrown: unknown) => {
    throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
  });
  const [first] = read.events;
  if (first?.type !== "plan") throw new FolderError(`${path} does not begin with a plan`);
  const { model: answers, service } = first.plan.settings;
  if (answers !== model.kind) throw new FolderError(`${folder} was measured with --answers ${answers}, not ${model.kind}`);
  if (model.kind === "scripted" && service !== undefined)
    if (service.meanMs !== model.meanMs || service.spread !== model.spread)
      throw new FolderError(`${folder} was measured with other service times; name the same --service-ms and --service-spread`);
  const data = manifest.inputs.find(({ role }) => role === "data")?.sha256;
  if (entries !== undefined && entriesInput(entries).sha256 !== data)
    throw new FolderError(`${folder} was measured with other entries; name the same --data, --requests and --seed`);
  dropCutLine(path, read);
  removeIdentities(folder);
  // Not final again, until it has ended.
  writeJson(folder, FILES.manifest, { ...manifest, events: null });
  return { plan: first.plan, events: [...read.events], manifest };
}

async function executeRuns(plan: Plan, options: BenchOptions, recorder: Recorder): Promise<void> {
  const attempts = attemptsIn(recorder.events);
  const left = plan.runs.filter(({ run }) => attempts.get(run)?.complete !== true);
  const done = plan.runs.length - left.length;
  const startedAt = performance.now();
  let failures = 0;
  for (const [index, planned] of left.entries()) {
    if (options.signal.aborted) return;
    const perRun = index === 0 ? undefined : (performance.now() - startedAt) / index;
    const remainingMs = perRun === undefined ? undefined : perRun * (left.length - index);
    options.onProgress?.({ done: done + index, runs: plan.runs.length, current: planned, remainingMs });
    recorder.showRunning({ plan, done: done + index, current: planned, remainingMs });
    const attempt = (attempts.get(planned.run)?.count ?? 0) + 1;
    const ended = await executeOne(plan, planned, { options, recorder, attempt });
    recorder.runEnded(plan);
    recorder.save();
    failures = ended.status === "failed" ? failures + 1 : 0;
    if (failures >= MAX_FAILURES) return;
  }
}

function executeOne(
  plan: Plan,
  planned: PlannedRun,
  { options, recorder, attempt }: { readonly options: BenchOptions; readonly recorder: Recorder; readonly attempt: number },
): Promise<BenchEventOf<"run-ended">> {
  const arm = plan.arms.find(({ id }) => id === planned.arm);
  const condition = plan.conditions.find(({ id }) => id === planned.condition);
  if (arm === undefined || condition === undefined)
    throw new Error(`the plan of ${planned.run} names no arm or condition of its own`);
  const requests = condition.faults.length > 0 ? REQUESTS_UNDER_FAULTS : plan.settings.requests;
  return executeRun(
    {
      planned,
      arm,
      condition,
      settings: {
        ...plan.settings,
        requests,
        agents: condition.agents ?? plan.settings.agents,
        warmUpMs: warmUpMsOf(plan.settings, condition),
      },
      model: seeded(options.model, planned.seed, condition),
      entries: options.entries,
      data: options.dataFor?.(plan, condition) ?? options.data,
      files: options.files,
      programs: arm.implementation === "official" ? options.programsOf?.(arm) : undefined,
      basePort: options.basePort,
      identityFolder: join(options.folder, IDENTITIES, planned.run),
      stateFolder: join(options.folder, STATE, planned.run),
      startMs: options.startMs ?? START_MS,
      emit: (event) => recorder.emit(event),
    },
    attempt,
    options.signal,
  );
}

/** The same draws in every arm of a block, and others in the next block. */
function seeded(model: ModelSettings, seed: number, { serviceMs, modelName }: Condition): ModelSettings {
  if (model.kind === "live") return { ...model, model: modelName ?? model.model };
  return model.kind === "scripted" ? { ...model, seed, meanMs: serviceMs ?? model.meanMs } : model;
}

/** How often each run was begun, and whether it is complete. */
function attemptsIn(events: readonly BenchEvent[]): ReadonlyMap<string, { readonly count: number; readonly complete: boolean }> {
  const attempts = new Map<string, { count: number; complete: boolean }>();
  for (const event of events) {
    if (event.type === "run-started") attempts.set(event.run, { count: event.attempt, complete: false });
    if (event.type === "run-ended") attempts.set(event.run, { count: event.attempt, complete: event.status === "complete" });
  }
  return attempts;
}
