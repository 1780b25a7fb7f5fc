import { join } from "node:path";
import { readEventsOf } from "../folder/events-file.js";
import { digestEvents, FILES, FolderError } from "../folder/folder.js";
import { differencesOf, type Verification } from "../folder/verify.js";
import { digestEvidence, readSafetyJudgements, readSafetyManifest, readSafetyResult } from "./folder.js";
import { checkOpinions } from "./judge/judgements.js";
import { type Attempt, EVENT, type SafetyEvent } from "./result/event.js";
import { summarise } from "./result/summarise.js";

/** Computes every number of a result again from its events. The evidence must be what was written. */
export async function verifySafetyFolder(folder: string): Promise<Verification> {
  const [stated, manifest] = [readSafetyResult(folder), readSafetyManifest(folder)];
  const { events } = await readEventsOf(join(folder, FILES.events), EVENT).catch((thrown: unknown) => {
    throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
  });
  const judgements = readSafetyJudgements(folder);
  const opinions = judgements && checkOpinions(judgements, attemptsIn(events));
  // Null: it was killed before it could say. Its result was written after its last whole target.
  const isFinal = manifest.events !== null;
  const computed: unknown = JSON.parse(JSON.stringify(summarise(isFinal ? events : wholeTargets(events))));
  return {
    events: events.length,
    differences: [
      ...differencesOf(stated, computed, ""),
      ...differencesOf(manifest.events, isFinal ? digestEvents(folder, events.length) : null, "manifest.events"),
      ...differencesOf(opinions?.stated, opinions?.computed, "judgements"),
      ...differencesOf(manifest.evidence, isFinal ? digestEvidence(folder) : null, "manifest.evidence"),
    ],
    status: stated.status,
  };
}

/** The attempts of a folder. Throws FolderError. */
export async function readAttempts(folder: string): Promise<readonly Attempt[]> {
  const { events } = await readEventsOf(join(folder, FILES.events), EVENT).catch((thrown: unknown) => {
    throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
  });
  return attemptsIn(events);
}

function attemptsIn(events: readonly SafetyEvent[]): readonly Attempt[] {
  return events.filter((event) => event.type === "attempt");
}

function wholeTargets(events: readonly SafetyEvent[]): readonly SafetyEvent[] {
  return events.slice(0, events.findLastIndex(({ type }) => type === "target-ended" || type === "plan") + 1);
}
