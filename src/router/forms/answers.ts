import type { Maybe } from "../../envelope/index.js";
import type { Features } from "../../protocols/features.js";
import { Malformed } from "./members.js";

/** Options of a reader. */
export interface ReadContext {
  /** The protocols that a file may name. */
  readonly rows: readonly Features[];
  /** Reads the answers of a file, such as labels and levels. */
  answer<T>(read: () => T): Maybe<T>;
}

/** A benchmark must report a malformed answer; for routing it counts as absent. */
export function contextOf(rows: readonly Features[], answersCount: boolean): ReadContext {
  return {
    rows,
    answer(read) {
      try {
        return read();
      } catch (thrown) {
        if (answersCount || !(thrown instanceof Malformed)) throw thrown;
        return undefined;
      }
    },
  };
}
