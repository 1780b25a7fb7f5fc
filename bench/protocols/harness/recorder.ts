import { type EventsFile, WriteError } from "../folder/events-file.js";
import { digestEvents, FILES, writeJson, writeResult, writeText } from "../folder/folder.js";
import { endManifest } from "../folder/manifest.js";
import { type Running, reportHtml, reportMarkdown, runningHtml } from "../report/index.js";
import {
  type BenchEvent,
  type BenchResult,
  type Manifest,
  measuredIn,
  type Plan,
  type RunSummary,
  summarise,
  summariseRun,
} from "../result/index.js";
import { priorsOf } from "../router-loop/priors.js";

/** Between runs the result takes at most this share of the time: with many runs its intervals would take longer than the runs. */
const RESULT_SHARE = 0.005;
/** Events are kept in memory until the result is written. */
const MAX_EVENTS = 4_000_000;

/** Keeps events in memory and on the disk. An error of the disk ends the benchmark: what it says next would be lost. */
export class Recorder {
  readonly events: BenchEvent[];
  readonly #folder: string;
  readonly #file: EventsFile;
  readonly #broken = new AbortController();
  #error: Error | undefined;
  /** The last result, and of how many events it is made: intervals take long to compute. */
  #known: { readonly events: number; readonly result: BenchResult } | undefined;
  /** When it is due to be written again, while runs last. */
  #dueMs = 0;
  /** By run: one that is repeated takes the place of its earlier attempt. */
  readonly #ended = new Map<string, RunSummary>();
  /** The first event of the run that lasts. */
  #runFrom: number;

  constructor(folder: string, file: EventsFile, events: BenchEvent[]) {
    this.#folder = folder;
    this.#file = file;
    this.events = events;
    this.#runFrom = events.length;
    if (events.length > 0) for (const run of this.result.runs) this.#ended.set(run.run, run);
  }

  get signal(): AbortSignal {
    return this.#broken.signal;
  }

  get result(): BenchResult {
    if (this.#known?.events !== this.events.length) this.#known = { events: this.events.length, result: summarise(this.events) };
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

  /** Events are on the disk, so that a killed benchmark can be resumed, and from time to time the result of them. */
  save(): void {
    this.#guard(() => {
      this.#file.flush();
      const fromMs = performance.now();
      if (fromMs < this.#dueMs) return;
      writeResult(this.#folder, this.result);
      const toMs = performance.now();
      this.#dueMs = toMs + (toMs - fromMs) / RESULT_SHARE;
    });
  }

  /** A run has ended: what the page shows of it is computed from its own events alone. */
  runEnded(plan: Plan): void {
    this.#guard(() => {
      const own = this.events.slice(this.#runFrom);
      this.#runFrom = this.events.length;
      for (const run of measuredIn([{ type: "plan", plan }, ...own]).runs) {
        this.#ended.delete(run.planned.run);
        this.#ended.set(run.planned.run, summariseRun(run, plan));
      }
    });
  }

  /** The page shows how far it is, until the report takes its place. */
  showRunning(running: Omit<Running, "ended">): void {
    this.#guard(() => writeText(this.#folder, FILES.report, runningHtml({ ...running, ended: [...this.#ended.values()] })));
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
