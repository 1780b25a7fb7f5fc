import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE_ROOT } from "../../../src/transport/node/package-file.js";
import { dropCutLine, EventsFile, readEventsOf } from "../folder/events-file.js";
import { digestEvents, FILES, FolderError, IDENTITIES, removeIdentities, writeJson, writeText } from "../folder/folder.js";
import { makeTrustMaterial, type TrustMaterial } from "./certificates/matrix.js";
import { beginFolder, digestEvidence, endManifest, readSafetyManifest, type SafetyManifest } from "./folder.js";
import { reportHtml, reportMarkdown } from "./report/report.js";
import { EVENT, type Plan, type SafetyEvent, type Target } from "./result/event.js";
import type { SafetyResult } from "./result/result.js";
import { summarise } from "./result/summarise.js";
import { probeTarget } from "./target.js";

/** How far a run is. */
export interface SafetyProgress {
  readonly target: string;
  readonly done: number;
  readonly targets: number;
  /** The probe that runs; undefined while the processes start. */
  readonly probe: string | undefined;
}

export interface SafetyOptions {
  readonly folder: string;
  readonly plan: Plan;
  readonly koine: string;
  readonly signal: AbortSignal;
  readonly force?: boolean;
  /** Goes on with the targets that are not complete in the folder, with the plan that it has. */
  readonly resume?: boolean;
  /** The compiled program of the members. Tests replace it. */
  readonly program?: string;
  readonly startMs?: number;
  onProgress?(progress: SafetyProgress): void;
}

const PROGRAM = fileURLToPath(new URL("dist/bench/protocols/safety/members/member.js", PACKAGE_ROOT));
/** Where every certificate of a run is for. */
const HOST = "127.0.0.1";
const START_MS = 30_000;

/** Probes every target of the plan, and returns the result that it has written. */
export async function runSafety(options: SafetyOptions): Promise<SafetyResult> {
  const { folder, signal } = options;
  const { plan, manifest, events } = options.resume === true ? await reopen(folder) : begin(options);
  const file = new EventsFile(join(folder, FILES.events));
  const emit = (event: SafetyEvent): void => {
    file.add(event);
    events.push(event);
  };
  try {
    if (events.length === 0) emit({ type: "plan", plan });
    const material = await makeTrustMaterial(HOST);
    for (const [index, target] of plan.targets.entries()) {
      if (signal.aborted) break;
      if (isComplete(events, target)) continue;
      await probeOne(target, { options, plan, material, events, emit, index });
      file.flush();
      writeJson(folder, FILES.result, summarise(events));
    }
  } finally {
    removeIdentities(folder);
    file.close();
  }
  return finish(folder, manifest, events);
}

interface Begun {
  readonly plan: Plan;
  readonly manifest: SafetyManifest;
  readonly events: SafetyEvent[];
}

function begin({ folder, plan, koine, force = false }: SafetyOptions): Begun {
  return { plan, manifest: beginFolder(folder, plan, { koine, force }), events: [] };
}

async function reopen(folder: string): Promise<Begun> {
  const manifest = readSafetyManifest(folder);
  const path = join(folder, FILES.events);
  const read = await readEventsOf(path, EVENT).catch((thrown: unknown) => {
    throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
  });
  const [first] = read.events;
  if (first?.type !== "plan") throw new FolderError(`${path} does not begin with a plan`);
  dropCutLine(path, read);
  removeIdentities(folder);
  // Not final again, until it has ended.
  const open = { ...manifest, events: null, evidence: null };
  writeJson(folder, FILES.manifest, open);
  return { plan: first.plan, manifest: open, events: [...read.events] };
}

function isComplete(events: readonly SafetyEvent[], { id }: Target): boolean {
  const last = events.findLast((event) => event.type !== "plan" && event.target === id);
  return last?.type === "target-ended" && last.status === "complete";
}

interface OneTarget {
  readonly options: SafetyOptions;
  readonly plan: Plan;
  readonly material: TrustMaterial;
  readonly events: readonly SafetyEvent[];
  readonly index: number;
  emit(event: SafetyEvent): void;
}

function probeOne(target: Target, { options, plan, material, events, emit, index }: OneTarget): Promise<void> {
  const begun = events.filter((event) => event.type === "target-started" && event.target === target.id).length;
  const { folder, signal, program = PROGRAM, startMs = START_MS } = options;
  const targets = plan.targets.length;
  return probeTarget({
    stage: { target, material, program, identityFolder: join(folder, IDENTITIES, String(index)), startMs },
    ...{ config: plan.config, folder, signal, emit, attempt: begun + 1 },
    onProbe: (probe) => options.onProgress?.({ target: target.id, done: index, targets, probe }),
  });
}

function finish(folder: string, manifest: SafetyManifest, events: readonly SafetyEvent[]): SafetyResult {
  const result = summarise(events);
  const ended = endManifest(manifest, digestEvents(folder, events.length), digestEvidence(folder));
  writeJson(folder, FILES.result, result);
  writeJson(folder, FILES.manifest, ended);
  writeText(folder, FILES.report, reportHtml(result, ended));
  writeText(folder, FILES.tables, reportMarkdown(result, ended));
  return result;
}
