import type { Maybe } from "../../../envelope/index.js";
import type { TaskKeys } from "./keys.js";
import type { TaskScripts } from "./task-scripts.js";

/** A task that may have been made although its creator was told of a failure. */
interface Withdrawn {
  readonly keys: TaskKeys;
  /** The keys of its idempotency key. */
  readonly ofKey: Maybe<readonly string[]>;
  readonly holder: string;
  /** How many entries its creator wrote with it. */
  readonly entries: number;
  /** How often it was not found. */
  misses: number;
}

/** Beyond this, such tasks are left to the sweep, which fails them. */
const MOST_WITHDRAWN = 10_000;
const RETRY_MS = 1_000;
/** A create that was sent before may be executed after the first look. */
const MISSES = 2;

/**
 * Removes tasks whose creation failed for the caller, as soon as Redis answers: nobody runs them, and with their idempotency key they
 * would be returned for ever.
 */
export class Withdrawals {
  readonly #scripts: TaskScripts;
  readonly #tasks = new Map<string, Withdrawn>();
  #timer: Maybe<NodeJS.Timeout>;

  constructor(scripts: TaskScripts) {
    this.#scripts = scripts;
  }

  add(keys: TaskKeys, ofKey: Maybe<readonly string[]>, holder: string, entries = 1): void {
    if (this.#tasks.size >= MOST_WITHDRAWN) return;
    this.#tasks.set(ofKey?.[0] ?? keys.id, { keys, ofKey, holder, entries, misses: 0 });
    this.#later(0);
  }

  /** Removes the task of an idempotency key that is used again. */
  async of([key = ""]: readonly string[]): Promise<void> {
    const task = this.#tasks.get(key);
    if (task !== undefined) await this.#withdraw(key, task);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#tasks.clear();
  }

  #later(ms: number): void {
    this.#timer ??= setTimeout(() => void this.#all(), ms).unref();
  }

  /** Ends at the first failure: Redis does not answer yet. */
  async #all(): Promise<void> {
    try {
      for (const [name, task] of this.#tasks) await this.#withdraw(name, task);
    } catch {
      // Tried again below.
    }
    this.#timer = undefined;
    if (this.#tasks.size > 0) this.#later(RETRY_MS);
  }

  async #withdraw(name: string, task: Withdrawn): Promise<void> {
    const { keys, ofKey, holder, entries } = task;
    const found = await this.#scripts.run("withdraw", keys, [holder, entries], ofKey);
    if ((found === 1 || ++task.misses >= MISSES) && this.#tasks.get(name) === task) this.#tasks.delete(name);
  }
}
