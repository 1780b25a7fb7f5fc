import type { Loss } from "../envelope/index.js";

/** The same loss, counted. */
export interface CountedLoss extends Loss {
  readonly count: number;
}

/** What a bridge could not carry so far. */
export interface LossReport {
  /** The most frequent first. Empty: nothing was lost. */
  losses(): readonly CountedLoss[];
  /** Messages that went through, so that an empty list says something. */
  readonly messages: number;
  /** Losses of kinds beyond the limit, which are only counted. */
  readonly others: number;
}

/** Paths may come from the wire: more kinds than this are counted together. */
const MOST_KINDS = 1_000;

/** Keeps account of losses. */
export class LossAccount implements LossReport {
  readonly #byKind = new Map<string, { readonly loss: Loss; count: number }>();
  messages = 0;
  others = 0;

  add(loss: Loss): void {
    const kind = `${loss.protocol} ${withoutIndex(loss.path)} ${loss.reason}`;
    const known = this.#byKind.get(kind);
    if (known !== undefined) known.count++;
    else if (this.#byKind.size < MOST_KINDS) this.#byKind.set(kind, { loss, count: 1 });
    else this.others++;
  }

  losses(): readonly CountedLoss[] {
    return Array.from(this.#byKind.values(), ({ loss, count }) => ({ ...loss, path: withoutIndex(loss.path), count })).sort(
      (a, b) => b.count - a.count || (a.path < b.path ? -1 : 1),
    );
  }
}

/** The third part is lost for the same reason as the first. */
function withoutIndex(path: string): string {
  return path.includes("[") ? path.replace(/\[\d+\]/g, "[]") : path;
}
