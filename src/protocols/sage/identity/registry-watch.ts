import type { Maybe } from "../../../envelope/index.js";
import type { RegistryReader } from "../registry/registry.js";

/** How often a registry is asked for changes. */
export interface WatchLimits {
  /** The time between two questions. */
  readonly watchMs: number;
  /** The longest time between two questions to a registry that does not answer: each failure doubles it. */
  readonly watchRetryMs: number;
}

/** What is done with the answers. */
export interface WatchEvents {
  /** Changes are noticed from now on; earlier ones were not. */
  began?(): void;
  changed(account: string): void;
  /** Changes may be missed from now on: nothing that was read is to be used. */
  lost(): void;
  /** Whether there is something that changes could end. If not, the registry is left alone. */
  isNeeded(): boolean;
}

/** Asks a registry for changes, while somebody needs to know. Goes on when a node that was stopped is back. */
export class RegistryWatch {
  readonly #registry: RegistryReader;
  readonly #limits: WatchLimits;
  readonly #events: WatchEvents;
  #timer: Maybe<ReturnType<typeof setTimeout>>;
  /** Changes up to here are known. Undefined: changes are not noticed. */
  #cursor: Maybe<number>;
  #asking: Maybe<Promise<void>>;
  #failures = 0;
  #stops = 0;

  constructor(registry: RegistryReader, limits: WatchLimits, events: WatchEvents) {
    this.#registry = registry;
    this.#limits = limits;
    this.#events = events;
  }

  /** Resolves when every later change will be noticed. Throws if the registry cannot be asked. */
  async started(): Promise<void> {
    if (this.#cursor !== undefined) return;
    clearTimeout(this.#timer);
    await this.#ask();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stops++;
    this.#cursor = undefined;
    this.#asking = undefined;
    this.#failures = 0;
  }

  /** One question at a time. */
  #ask(): Promise<void> {
    this.#asking ??= this.#changes(this.#stops);
    return this.#asking;
  }

  async #changes(stops: number): Promise<void> {
    const known = this.#cursor;
    try {
      const { cursor, accounts } = await this.#registry.changes(known);
      if (this.#stops !== stops) return;
      this.#cursor = cursor;
      // Without a cursor a node is asked for nothing that it could refuse.
      if (known === undefined) this.#events.began?.();
      else this.#failures = 0;
      for (const account of accounts) this.#events.changed(account);
      this.#schedule();
    } catch (thrown) {
      if (this.#stops === stops) this.#failed();
      throw thrown;
    }
  }

  #failed(): void {
    this.#failures++;
    this.#cursor = undefined;
    this.#events.lost();
    this.#schedule();
  }

  #schedule(): void {
    this.#asking = undefined;
    if (!this.#events.isNeeded()) {
      this.stop();
      return;
    }
    const { watchMs, watchRetryMs } = this.#limits;
    const delay = Math.min(watchMs * 2 ** this.#failures, Math.max(watchMs, watchRetryMs));
    this.#timer = setTimeout(() => void this.#ask().catch(() => undefined), delay);
    this.#timer.unref?.();
  }
}
