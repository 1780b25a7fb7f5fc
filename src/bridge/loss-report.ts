import type { Loss } from "../envelope/index.js";

/** A loss and how often it occurred. */
export interface CountedLoss extends Loss {
  readonly count: number;
}

/** What a bridge could not carry so far. */
export interface LossReport {
  /** The most frequent first. Empty: nothing was lost. */
  losses(): readonly CountedLoss[];
  /** The number of messages, to put an empty list into context. */
  readonly messages: number;
  /** Losses beyond the limit of kinds, which are only counted. */
  readonly others: number;
}

/** Paths may come from the wire: kinds beyond this are counted together. */
const MAX_KINDS = 1_000;

/** Counts losses by kind. */
export class LossCounter implements LossReport {
  readonly #byKind = new Map<string, { readonly loss: Loss; count: number }>();
  messages = 0;
  others = 0;

  add(loss: Loss): void {
    const kind = `${loss.protocol} ${withoutIndex(loss.path)} ${loss.reason}`;
    const known = this.#byKind.get(kind);
    if (known !== undefined) known.count++;
    else if (this.#byKind.size < MAX_KINDS) this.#byKind.set(kind, { loss, count: 1 });
    else this.others++;
  }

  losses(): readonly CountedLoss[] {
    return Array.from(this.#byKind.values(), ({ loss, count }) => ({ ...loss, path: withoutIndex(loss.path), count })).sort(
      (a, b) => b.count - a.count || (a.path < b.path ? -1 : 1),
    );
  }
}

/** Losses of list items are counted as one kind. */
function withoutIndex(path: string): string {
  return path.includes("[") ? path.replace(/\[\d+\]/g, "[]") : path;
}
