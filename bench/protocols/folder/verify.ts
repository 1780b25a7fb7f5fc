import { join } from "node:path";
import { type BenchEvent, summarise } from "../result/index.js";
import { readEvents } from "./events-file.js";
import { digestEvents, FILES, FolderError, readManifest, readResult } from "./folder.js";
import { judgementsIn } from "./judgements-file.js";
import { protectionIn } from "./manifest.js";

/** A number of the result that its events do not give. */
export interface Difference {
  /** `runs[3].metrics.p50Us`. */
  readonly path: string;
  readonly stated: unknown;
  readonly computed: unknown;
}

export interface Verification {
  readonly events: number;
  /** Numbers of the result, and the digest of the events in the manifest. */
  readonly differences: readonly Difference[];
  readonly status: string;
}

/** Computes every number of a result again from its events. */
export async function verifyFolder(folder: string): Promise<Verification> {
  const stated = readResult(folder);
  const manifest = readManifest(folder);
  const { events } = await readEvents(join(folder, FILES.events)).catch((thrown: unknown) => {
    throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
  });
  // Null: the benchmark was killed before it could say. Its result was written after its last whole run.
  const counted = manifest.events === null ? wholeRuns(events) : events;
  // Through JSON, as the file was: a number that it cannot carry would differ otherwise.
  const result = summarise(counted);
  const computed: unknown = JSON.parse(JSON.stringify(result));
  const protection = manifest.protection === null ? null : protectionIn(result.arms);
  const judgements = judgementsIn(folder, counted);
  const digest = manifest.events === null ? null : digestEvents(folder, events.length);
  return {
    events: events.length,
    differences: [
      ...differencesOf(stated, computed, ""),
      ...differencesOf(manifest.events, digest, "manifest.events"),
      ...differencesOf(manifest.protection, protection, "manifest.protection"),
      ...differencesOf(judgements?.stated, judgements?.computed, "judgements"),
    ],
    status: stated.status,
  };
}

/** Up to the end of the last run, or the plan alone. */
function wholeRuns(events: readonly BenchEvent[]): readonly BenchEvent[] {
  const last = events.findLastIndex(({ type }) => type === "run-ended" || type === "plan");
  return events.slice(0, last + 1);
}

/** Every place where two JSON values differ. */
export function* differencesOf(stated: unknown, computed: unknown, path: string): Generator<Difference> {
  if (isContainer(stated) && isContainer(computed) && Array.isArray(stated) === Array.isArray(computed)) {
    for (const key of new Set([...Object.keys(stated), ...Object.keys(computed)])) {
      const step = Array.isArray(stated) ? `[${key}]` : path === "" ? key : `.${key}`;
      yield* differencesOf(stated[key], computed[key], `${path}${step}`);
    }
  } else if (stated !== computed) yield { path, stated, computed };
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
