import { type Maybe, traceIdHex } from "../envelope/index.js";

/** A sample call of a histogram bucket, with its trace. */
export interface Exemplar {
  /** 32 hex digits. */
  readonly traceId: string;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** The last exemplar of each bucket. Slots are overwritten, so that a call allocates nothing. */
export class Exemplars {
  readonly #now: () => number;
  #slots: Maybe<Maybe<{ -readonly [Member in keyof Exemplar]: Exemplar[Member] }>[]>;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Ignores a value that is not a trace id: it comes from the caller. */
  put(bucket: number, value: number, traceId: string): void {
    const hex = traceIdHex(traceId);
    if (hex === undefined) return;
    this.#slots ??= [];
    const slot = this.#slots[bucket];
    if (slot === undefined) {
      this.#slots[bucket] = { traceId: hex, value, atMs: this.#now() };
      return;
    }
    slot.traceId = hex;
    slot.value = value;
    slot.atMs = this.#now();
  }

  /** Copies by bucket; undefined if there are none. */
  all(): Maybe<readonly Maybe<Exemplar>[]> {
    return this.#slots && Array.from(this.#slots, (slot) => slot && { ...slot });
  }
}
