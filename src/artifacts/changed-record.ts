import type { Maybe } from "../envelope/index.js";
import type { ArtifactRecord, RecordChange } from "./backend.js";
import type { ArtifactLimits } from "./store.js";

/** The record after a change. Undefined if a further task would be one too many. */
export function changedRecord(
  record: ArtifactRecord,
  { sha256, expiresAt, task }: RecordChange,
  { tasksPerArtifact }: ArtifactLimits,
): Maybe<ArtifactRecord> {
  const isNew = task !== undefined && !record.tasks.includes(task);
  if (isNew && record.tasks.length >= tasksPerArtifact) return undefined;
  return {
    ...record,
    sha256: sha256 ?? record.sha256,
    complete: record.complete || sha256 !== undefined,
    expiresAt: expiresAt ?? record.expiresAt,
    tasks: isNew ? [...record.tasks, task] : record.tasks,
  };
}
