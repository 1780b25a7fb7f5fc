import type { Maybe } from "../../../envelope/index.js";
import { columnText, nameFrom } from "./column-text.js";
import type { Connection, Statement } from "./library.js";

/** How often a process with listeners polls for writes of other processes. */
const LOOK_EVERY_MS = 20;
/** Not a version of a file: the first poll sees a change. */
const UNKNOWN = -1;

interface Awaited {
  readonly runs: Set<() => void>;
  /** The last entry seen when polling. */
  seq: Maybe<number>;
}

interface Holder {
  readonly holder: string;
  readonly onCancel: (taskId: string) => void;
  notified: ReadonlySet<string>;
}

/** Listeners for changes of tasks. Local changes notify directly; those of other processes are found by polling the file. */
export class Listeners {
  readonly #byTask = new Map<string, Awaited>();
  readonly #holders = new Set<Holder>();
  readonly #version: Statement<readonly [number]>;
  readonly #seqs: Statement<readonly [string, number]>;
  readonly #toCancel: Statement<readonly [string]>;
  #seen = UNKNOWN;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(connection: Connection) {
    // Increases when another connection commits, and reads no table.
    this.#version = connection.prepare("PRAGMA data_version");
    this.#seqs = connection.prepare("SELECT t.id, t.seq FROM json_each(?) AS wanted JOIN tasks t ON t.id = wanted.value");
    this.#toCancel = connection.prepare("SELECT id FROM tasks WHERE cancel = 1 AND holder = ? AND holder IS NOT NULL");
  }

  wake(taskId: string, run: () => void): () => void {
    if (this.#closed) return () => undefined;
    const awaited = this.#byTask.get(taskId) ?? { runs: new Set(), seq: undefined };
    this.#byTask.set(taskId, awaited);
    // A function may be registered twice, so each registration is its own entry.
    const notify = () => run();
    awaited.runs.add(notify);
    this.#startLooking();
    return () => {
      awaited.runs.delete(notify);
      if (awaited.runs.size === 0 && this.#byTask.get(taskId) === awaited) this.#byTask.delete(taskId);
      this.#stopIfAlone();
    };
  }

  listen(holder: string, onCancel: (taskId: string) => void): () => void {
    if (this.#closed) return () => undefined;
    const listener: Holder = { holder, onCancel, notified: new Set() };
    this.#holders.add(listener);
    this.#startLooking();
    return () => {
      this.#holders.delete(listener);
      this.#stopIfAlone();
    };
  }

  /** Somebody here waits for changes of the task. */
  has(taskId: string): boolean {
    return this.#byTask.has(taskId);
  }

  /** This process changed the task. */
  notify(taskId: string): void {
    const awaited = this.#byTask.get(taskId);
    if (awaited === undefined) return;
    for (const run of [...awaited.runs]) {
      try {
        run();
      } catch {
        // A throwing listener must not affect the commit or other listeners.
      }
    }
  }

  /** Notifies all listeners, whose next read finds the store closed. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const taskId of [...this.#byTask.keys()]) this.notify(taskId);
    this.#byTask.clear();
    this.#holders.clear();
  }

  #startLooking(): void {
    if (this.#timer !== undefined) return;
    // Read before the listener's first read: everything written after it is seen as new.
    try {
      this.#seen = this.#versionNow();
    } catch {
      this.#seen = UNKNOWN;
    }
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    // Polling does not keep the process alive.
    this.#timer.unref();
  }

  #stopIfAlone(): void {
    if (this.#byTask.size > 0 || this.#holders.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    try {
      const version = this.#versionNow();
      if (version === this.#seen) return;
      this.#seen = version;
      this.#notifyChanged();
      this.#tellHolders();
    } catch {
      // Not fatal: the next read reports the problem of the file.
    }
  }

  #notifyChanged(): void {
    if (this.#byTask.size === 0) return;
    const ids = JSON.stringify([...this.#byTask.keys()].map(columnText));
    const seqs = new Map(this.#seqs.intact([ids]).map(([id, seq]) => [nameFrom(id), seq]));
    for (const [taskId, awaited] of [...this.#byTask]) {
      const seq = seqs.get(taskId) ?? 0;
      if (awaited.seq === seq) continue;
      awaited.seq = seq;
      this.notify(taskId);
    }
  }

  /** Notifies each cancel once. */
  #tellHolders(): void {
    for (const listener of [...this.#holders]) {
      const ids = new Set(this.#toCancel.intact([columnText(listener.holder)]).map(([id]) => nameFrom(id)));
      const known = listener.notified;
      listener.notified = ids;
      for (const taskId of ids) if (!known.has(taskId)) listener.onCancel(taskId);
    }
  }

  #versionNow(): number {
    return this.#version.get([])?.[0] ?? 0;
  }
}
