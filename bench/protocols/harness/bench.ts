import { join } from "node:path";
import type { EntrySource } from "../entries/entry.js";
import { entriesInput } from "../entries/read-entries.js";
import { dropCutLine, EventsFile, readEvents, WriteError } from "../folder/events-file.js";
import {
  digestEvents,
  FILES,
  FolderError,
  IDENTITIES,
  prepareFolder,
  readManifest,
  removeIdentities,
  STATE,
  writeJson,
  writeResult,
  writeSchema,
  writeText,
} from "../folder/folder.js";
import { beginManifest, endManifest } from "../folder/manifest.js";
import type { ModelSettings } from "../models/settings.js";
import type { Program } from "../processes/tasks.js";
import { type Running, reportHtml, reportMarkdown, runningHtml } from "../report/index.js";
import {
  type Arm,
  type BenchEvent,
  type BenchEventOf,
  type BenchResult,
  type Condition,
  type Manifest,
  type ManifestInput,
  type Plan,
  type PlannedRun,
  summarise,
} from "../result/index.js";
import { priorsOf } from "../router-loop/priors.js";
import type { ProgramFiles } from "./programs.js";
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
/** The share of a benchmark in which results are computed that the next run changes again. */
const MOST_OF_TIME = 0.02;
/** Events are kept in memory until the result is written. */
const MAX_EVENTS = 4_000_000;

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
  const answers = first.plan.settings.model;
  if (answers !== model.kind) throw new FolderError(`${folder} was measured with --answers ${answers}, not ${model.kind}`);
  const data = manifest.inputs.find(({ role }) => role === "data")?.sha256;
  if (entries !== undefined && entriesInput(entries).sha256 !== data)
    throw new FolderError(`${folder} was measured with other entries; name the same --data, --requests and --seed`);
  dropCutLine(path, read);
  removeIdentities(folder);
  // Not final again, until it has ended.
  writeJson(folder, FILES.manifest, { ...manifest, events: null });
  return { plan: first.plan, events: [...read.events], manifest };
}

/** Keeps events in memory and on the disk. An error of the disk ends the benchmark: what it says next would be lost. */
class Recorder {
  readonly events: BenchEvent[];
  readonly #folder: string;
  readonly #file: EventsFile;
  readonly #broken = new AbortController();
  #error: Error | undefined;
  /** The last result, of how many events it is made, when, and how long that took: intervals take long to compute. */
  #known: { readonly events: number; readonly result: BenchResult; readonly at: number; readonly tookMs: number } | undefined;

  constructor(folder: string, file: EventsFile, events: BenchEvent[]) {
    this.#folder = folder;
    this.#file = file;
    this.events = events;
  }

  get signal(): AbortSignal {
    return this.#broken.signal;
  }

  get result(): BenchResult {
    if (this.#known?.events !== this.events.length) {
      const began = performance.now();
      const result = summarise(this.events);
      const at = performance.now();
      this.#known = { events: this.events.length, result, at, tookMs: at - began };
    }
    return this.#known.result;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  /** Never throws: events arrive from processes, where nobody could catch it. */
  emit(event: BenchEvent): void {
    this.#guard(() => {
      if (this.events.length >= MAX_EVENTS) throw new WriteError(`more than ${MAX_EVENTS} events: measure fewer requests`);
      this.#file.add(event);
      this.events.push(event);
    });
  }

  /**
   * Events are on the disk, so that a killed benchmark can be resumed, and a result that can be read. It may lack the latest runs: in a
   * long benchmark it is not computed after each of them.
   */
  save(): void {
    this.#guard(() => {
      this.#file.flush();
      const { at = 0, tookMs = 0 } = this.#known ?? {};
      if (performance.now() - at >= tookMs / MOST_OF_TIME) writeResult(this.#folder, this.result);
    });
  }

  /** The page shows how far it is, until the report takes its place. */
  showRunning(running: Omit<Running, "ended">): void {
    this.#guard(() => writeText(this.#folder, FILES.report, runningHtml({ ...running, ended: this.#known?.result.runs ?? [] })));
  }

  finish(manifest: Manifest): void {
    this.#guard(() => {
      this.#file.close();
      const { result } = this;
      const ended = endManifest(manifest, result, digestEvents(this.#folder, this.events.length));
      writeResult(this.#folder, result);
      writeJson(this.#folder, FILES.manifest, ended);
      writeJson(this.#folder, FILES.priors, priorsOf(result));
      writeText(this.#folder, FILES.report, reportHtml(result, ended));
      writeText(this.#folder, FILES.tables, reportMarkdown(result, ended));
    });
  }

  #guard(work: () => void): void {
    if (this.#error !== undefined) return;
    try {
      work();
    } catch (thrown) {
      this.#error = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.#broken.abort(this.#error);
    }
  }
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
      settings: { ...plan.settings, requests, agents: condition.agents ?? plan.settings.agents },
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
