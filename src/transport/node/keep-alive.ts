import { Slots, type Slotted } from "../../envelope/index.js";

/** Parts of the interval: a silent stream is written to after at most all of it, and at least all but one. */
export const KEEP_ALIVE_TICKS = 4;

/** A stream that something is written to while it is silent. */
export interface KeptAlive extends Slotted {
  /** A part of the interval has passed. */
  tick(): void;
}

/** One timer for all streams with the same interval: a timer of each costs more than the rest of its writer. */
export class KeepAlive {
  static readonly #byInterval = new Map<number, KeepAlive>();
  readonly #everyMs: number;
  readonly #streams = new Slots<KeptAlive>();
  readonly #timer: NodeJS.Timeout;

  /** The timer of an interval. */
  static every(ms: number): KeepAlive {
    const known = KeepAlive.#byInterval.get(ms);
    if (known !== undefined) return known;
    const made = new KeepAlive(ms);
    KeepAlive.#byInterval.set(ms, made);
    return made;
  }

  private constructor(everyMs: number) {
    this.#everyMs = everyMs;
    this.#timer = setInterval(() => this.#tick(), everyMs / KEEP_ALIVE_TICKS);
    this.#timer.unref();
  }

  add(stream: KeptAlive): void {
    this.#streams.add(stream);
  }

  remove(stream: KeptAlive): void {
    this.#streams.remove(stream);
  }

  #tick(): void {
    const streams = this.#streams.all;
    if (streams.length === 0) {
      clearInterval(this.#timer);
      KeepAlive.#byInterval.delete(this.#everyMs);
    }
    // From the last one: a stream that ends meanwhile is replaced by one that has had its turn.
    for (let index = streams.length - 1; index >= 0; index--) streams[index]?.tick();
  }
}
