import type { Maybe } from "../../envelope/index.js";
import type { Features } from "../../protocols/features.js";
import { Malformed } from "./members.js";

/** What a reader goes by. */
export interface ReadContext {
  /** The protocols that a file may name. */
  readonly rows: readonly Features[];
  /** Reads what belongs to the answers of a file, such as labels and levels. */
  answer<T>(read: () => T): Maybe<T>;
}

/** Who measures must know that an answer is malformed; for whoever routes it is as if there were none. */
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
