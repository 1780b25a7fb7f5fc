import type { ClientDocument } from "../client/documents.js";
import type { SenderTask } from "./options.js";

/** The candidates. */
export interface Choice {
  readonly task: SenderTask;
  /** The documents that the peer advertises. */
  readonly listed: readonly ClientDocument[];
  /** Hashes of documents this side has a routine for, for this task. */
  readonly routines: ReadonlySet<string>;
  /** Hashes of other documents this side was given. */
  readonly known: ReadonlySet<string>;
  /** A model is available that can follow a document by reading it. */
  readonly reads: boolean;
}

/**
 * Selects by rules, without reading texts, among the documents that the peer lists: first those with a routine, then known ones
 * named like the task, then the peer's own named like the task. The last two need a model.
 */
export function pickDocument({ task, listed, routines, known, reads }: Choice): ClientDocument | undefined {
  const named = (each: ClientDocument): boolean => each.skill === task.id || sameName(each.name, task.id);
  return (
    listed.find(({ hash }) => routines.has(hash)) ??
    (reads ? (listed.find((each) => known.has(each.hash) && named(each)) ?? listed.find(named)) : undefined)
  );
}

function sameName(a: string, b: string): boolean {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return plain(a) === plain(b) && plain(a) !== "";
}
