import { type Maybe, Slots } from "../../envelope/index.js";
import { IdleList } from "./idle-list.js";

/** What one subject keeps in the store, over all its tenants. */
export class Holder {
  readonly ended = new IdleList();
  readonly waiting = new IdleList();
  tasks = 0;
  bytes = 0;
  /** Its place among the holders: the logarithm of its share of the store. */
  level = 0;
  slot: number | undefined;

  constructor(readonly subject: string) {}
}

/** Levels below the whole store; smaller shares are one level. */
const LEVELS = 24;

/**
 * The holders by their share of the store, each level twice the one below: finding one of the largest costs the same for ten holders and
 * for ten thousand.
 */
export class Holders {
  readonly #bySubject = new Map<string, Holder>();
  readonly #levels = Array.from({ length: LEVELS }, () => new Slots<Holder>());
  readonly #keptTasks: number;
  readonly #keptBytes: number;

  constructor({ keptTasks, keptBytes }: { readonly keptTasks: number; readonly keptBytes: number }) {
    this.#keptTasks = keptTasks;
    this.#keptBytes = keptBytes;
  }

  get all(): Iterable<Holder> {
    return this.#bySubject.values();
  }

  of(subject: string): Holder {
    const known = this.#bySubject.get(subject);
    if (known !== undefined) return known;
    const made = new Holder(subject);
    this.#bySubject.set(subject, made);
    this.#levels[0]?.add(made);
    return made;
  }

  /** Like `of`, without keeping a holder that has nothing. */
  peek(subject: string): Holder {
    return this.#bySubject.get(subject) ?? new Holder(subject);
  }

  count(holder: Holder, tasks: number, bytes: number): void {
    holder.tasks += tasks;
    holder.bytes += bytes;
    if (holder.tasks === 0) {
      this.#levels[holder.level]?.remove(holder);
      this.#bySubject.delete(holder.subject);
      return;
    }
    const level = this.#levelOf(holder);
    if (level === holder.level) return;
    this.#levels[holder.level]?.remove(holder);
    holder.level = level;
    this.#levels[level]?.add(holder);
  }

  /** The largest holder with a finished task. Undefined if all of them have a smaller share than `than`. */
  largest(than: Holder): Maybe<Holder> {
    for (let level = LEVELS - 1; level > than.level; level--) {
      for (const holder of this.#levels[level]?.all ?? []) if (holder.ended.oldest !== undefined) return holder;
    }
    const share = this.#shareOf(than);
    for (const holder of this.#levels[than.level]?.all ?? [])
      if (holder.ended.oldest !== undefined && this.#shareOf(holder) > share) return holder;
    return than.ended.oldest === undefined ? undefined : than;
  }

  #shareOf({ tasks, bytes }: Holder): number {
    return Math.max(tasks / this.#keptTasks, bytes / this.#keptBytes);
  }

  #levelOf(holder: Holder): number {
    return Math.max(0, Math.min(LEVELS - 1, LEVELS - 1 + Math.floor(Math.log2(this.#shareOf(holder)))));
  }
}
