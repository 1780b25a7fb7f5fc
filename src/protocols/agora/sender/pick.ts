import type { SpokenDocument } from "../client/documents.js";
import type { SenderTask } from "./options.js";

/** What there is to choose from. */
export interface Choice {
  readonly task: SenderTask;
  /** The documents that the peer advertises. */
  readonly listed: readonly SpokenDocument[];
  /** Hashes of documents this side has a routine for, for this task. */
  readonly routines: ReadonlySet<string>;
  /** Hashes of other documents this side was given. */
  readonly known: ReadonlySet<string>;
  /** A model is available that can follow a document by reading it. */
  readonly reads: boolean;
}

/**
 * Picks by rules, and reads nothing: only what the peer lists; first what this side has code for, then what it knows and
 * that has the task's name, then what only the peer has and that has the task's name. The last two need a model to follow
 * them. That a text fits which nobody has read is never claimed.
 */
export function pickDocument({ task, listed, routines, known, reads }: Choice): SpokenDocument | undefined {
  const named = (each: SpokenDocument): boolean => each.skill === task.id || sameName(each.name, task.id);
  return (
    listed.find(({ hash }) => routines.has(hash)) ??
    (reads ? (listed.find((each) => known.has(each.hash) && named(each)) ?? listed.find(named)) : undefined)
  );
}

function sameName(a: string, b: string): boolean {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return plain(a) === plain(b) && plain(a) !== "";
}
