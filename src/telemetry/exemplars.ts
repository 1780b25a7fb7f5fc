import { type Maybe, traceIdHex } from "../envelope/index.js";

/** One call as an example of the bucket it was counted in: where to look for why it took that long. */
export interface Exemplar {
  /** 32 hex digits. */
  readonly traceId: string;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** The last example of each bucket. Places are written over, so that a call costs no new object. */
export class Exemplars {
  readonly #now: () => number;
  #places: Maybe<Maybe<{ -readonly [Member in keyof Exemplar]: Exemplar[Member] }>[]>;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A text that is no trace id is not kept: a caller may write anything there, and of any length. */
  put(bucket: number, value: number, traceId: string): void {
    const hex = traceIdHex(traceId);
    if (hex === undefined) return;
    this.#places ??= [];
    const place = this.#places[bucket];
    if (place === undefined) {
      this.#places[bucket] = { traceId: hex, value, atMs: this.#now() };
      return;
    }
    place.traceId = hex;
    place.value = value;
    place.atMs = this.#now();
  }

  /** Copies, by bucket; undefined where there is none at all. */
  all(): Maybe<readonly Maybe<Exemplar>[]> {
    return this.#places && Array.from(this.#places, (place) => place && { ...place });
  }
}
