import type { Maybe } from "../../../envelope/index.js";
import { columnText, nameFrom } from "./column-text.js";
import type { Connection, Statement } from "./library.js";

/** How often a process that waits for something looks whether another has written. Nobody waits: nobody looks. */
const LOOK_EVERY_MS = 20;
/** No version of a file: the first look will find another. */
const UNKNOWN = -1;

interface Awaited {
  readonly runs: Set<() => void>;
  /** The last entry another process is known to have written, once somebody looked. */
  seq: Maybe<number>;
}

interface Holder {
  readonly holder: string;
  readonly heard: (taskId: string) => void;
  told: ReadonlySet<string>;
}

/** Who waits for news of a task. This process says it itself; what another one wrote is found by looking at the file. */
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
    // Goes up when another connection has committed, and costs no look at any table.
    this.#version = connection.prepare("PRAGMA data_version");
    this.#seqs = connection.prepare("SELECT t.id, t.seq FROM json_each(?) AS wanted JOIN tasks t ON t.id = wanted.value");
    this.#toCancel = connection.prepare("SELECT id FROM tasks WHERE cancel = 1 AND holder = ? AND holder IS NOT NULL");
  }

  wake(taskId: string, run: () => void): () => void {
    if (this.#closed) return () => undefined;
    const awaited = this.#byTask.get(taskId) ?? { runs: new Set(), seq: undefined };
    this.#byTask.set(taskId, awaited);
    // A function may listen twice and leave once, so each time is an entry of its own.
    const ring = () => run();
    awaited.runs.add(ring);
    this.#startLooking();
    return () => {
      awaited.runs.delete(ring);
      if (awaited.runs.size === 0 && this.#byTask.get(taskId) === awaited) this.#byTask.delete(taskId);
      this.#stopIfAlone();
    };
  }

  listen(holder: string, heard: (taskId: string) => void): () => void {
    if (this.#closed) return () => undefined;
    const listener: Holder = { holder, heard, told: new Set() };
    this.#holders.add(listener);
    this.#startLooking();
    return () => {
      this.#holders.delete(listener);
      this.#stopIfAlone();
    };
  }

  /** This process changed the task. */
  ring(taskId: string): void {
    const awaited = this.#byTask.get(taskId);
    if (awaited === undefined) return;
    for (const run of [...awaited.runs]) {
      try {
        run();
      } catch {
        // Whoever cannot take a hint does not undo what is written, nor keep it from the others.
      }
    }
  }

  /** Everybody looks once more, and finds that the store is closed. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const taskId of [...this.#byTask.keys()]) this.ring(taskId);
    this.#byTask.clear();
    this.#holders.clear();
  }

  #startLooking(): void {
    if (this.#timer !== undefined) return;
    // Known from before the first read of whoever begins to listen: what is written after it is seen as new.
    try {
      this.#seen = this.#versionNow();
    } catch {
      this.#seen = UNKNOWN;
    }
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    // Waiting for news keeps no process alive: whoever wants them has a connection that does.
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
      this.#ringChanged();
      this.#tellHolders();
    } catch {
      // A hint that could not be had is no failure: the next read says what is wrong with the file.
    }
  }

  #ringChanged(): void {
    if (this.#byTask.size === 0) return;
    const ids = JSON.stringify([...this.#byTask.keys()].map(columnText));
    const seqs = new Map(this.#seqs.all([ids]).map(([id, seq]) => [nameFrom(id), seq]));
    for (const [taskId, awaited] of [...this.#byTask]) {
      const seq = seqs.get(taskId) ?? 0;
      if (awaited.seq === seq) continue;
      awaited.seq = seq;
      this.ring(taskId);
    }
  }

  /** Each cancel is told once. */
  #tellHolders(): void {
    for (const listener of [...this.#holders]) {
      const ids = new Set(this.#toCancel.all([columnText(listener.holder)]).map(([id]) => nameFrom(id)));
      const known = listener.told;
      listener.told = ids;
      for (const taskId of ids) if (!known.has(taskId)) listener.heard(taskId);
    }
  }

  #versionNow(): number {
    return this.#version.get([])?.[0] ?? 0;
  }
}
