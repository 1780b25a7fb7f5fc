import { subjectOf } from "../../../envelope/index.js";
import type { TaskLimits } from "../../limits.js";
import { columnText, nameFrom } from "./column-text.js";
import type { Holding, Holdings } from "./holdings.js";
import type { Connection, Statement } from "./library.js";
import type { NewTasks } from "./new-tasks.js";
import type { TaskTable } from "./task-table.js";
import type { Totals } from "./totals.js";

/** Expired tasks are removed after every this many new tasks. */
const TASKS_PER_CLEANING = 32;
/** Most tasks removed at once, which bounds the cost of one call. */
const CLEARED_AT_ONCE = 64;
/**
 * When storage is full, a hundredth of the limit is evicted at once, within `CLEARED_AT_ONCE`: one by one costs several
 * times as much.
 */
const SHARE_CLEARED = 100;
/** Pages released to the file system by one cleaning, and the share of the file that must be unused before. */
const PAGES_GIVEN_BACK = 256;
const SHARE_UNUSED = 0.5;

const TABLES = ["heard", "snapshots", "pushes", "saved"] as const;
type Resting = readonly [n: number, id: string, bytes: number, statusAt: number, owner: string, closed: number];

/** What one subject keeps, over all its tenants. */
interface SubjectHolding extends Holding {
  readonly owners: string[];
}

/**
 * Enforces storage limits. Evicts the oldest finished tasks of whoever keeps most, and nothing of a subject that keeps less than the one
 * that needs room; then its own interrupted tasks. Never running ones.
 */
export class Room {
  readonly #totals: Totals;
  readonly #made: NewTasks;
  readonly #tasks: TaskTable;
  readonly #limits: TaskLimits;
  readonly #evicted: (taskId: string) => void;
  readonly #resting: Statement<Resting>;
  readonly #restingOf: Statement<Resting>;
  readonly #holdings: Holdings;
  readonly #clear: readonly Statement<readonly []>[];
  readonly #unused: Statement<readonly [pages: number]>;
  readonly #pages: Statement<readonly [pages: number]>;
  readonly #giveBack: () => void;
  #untilCleaning = TASKS_PER_CLEANING;
  /** When the oldest finished task ended: until it is over, no other is. */
  #oldestAt = Number.NEGATIVE_INFINITY;

  constructor(
    connection: Connection,
    kept: { readonly totals: Totals; readonly holdings: Holdings; readonly made: NewTasks; readonly tasks: TaskTable },
    limits: TaskLimits,
    evicted: (taskId: string) => void,
  ) {
    this.#totals = kept.totals;
    this.#holdings = kept.holdings;
    this.#made = kept.made;
    this.#tasks = kept.tasks;
    this.#limits = limits;
    this.#evicted = evicted;
    this.#resting = connection.prepare(
      "SELECT n, id, bytes, status_at, owner, closed FROM tasks WHERE rest IS NOT NULL AND closed = ? AND n <> ? ORDER BY rest LIMIT ?",
    );
    this.#restingOf = connection.prepare(
      `SELECT n, id, bytes, status_at, owner, closed FROM tasks WHERE rest IS NOT NULL AND closed = ? AND n <> ?
       AND owner IN (SELECT value FROM json_each(?)) ORDER BY rest LIMIT ?`,
    );
    this.#clear = [
      connection.prepare("DELETE FROM journal WHERE at BETWEEN ?1 << 20 AND (?2 << 20) | 1048575"),
      ...TABLES.map((table) => connection.prepare(`DELETE FROM ${table} WHERE task BETWEEN ?1 AND ?2`)),
      connection.prepare("DELETE FROM tasks WHERE n BETWEEN ?1 AND ?2"),
    ];
    this.#unused = connection.prepare("PRAGMA freelist_count");
    this.#pages = connection.prepare("PRAGMA page_count");
    this.#giveBack = () => connection.exec(`PRAGMA incremental_vacuum(${PAGES_GIVEN_BACK})`);
  }

  /** Makes room for `bytes` more in existing tasks. `but`: a task that must not be evicted. */
  hasRoom(owner: string, bytes: number, but = 0): boolean {
    return this.#makeRoom(owner, { bytes, tasks: 0 }, but);
  }

  hasRoomForTask(owner: string, bytes: number): boolean {
    this.#untilCleaning -= 1;
    if (this.#untilCleaning <= 0) this.#clean();
    return this.#makeRoom(owner, { bytes, tasks: 1 }, 0);
  }

  #makeRoom(owner: string, { bytes, tasks }: { readonly bytes: number; readonly tasks: 0 | 1 }, but: number): boolean {
    const { keptTasks, keptBytes } = this.#limits;
    while (this.#totals.tasks + tasks > keptTasks || this.#totals.bytes + bytes > keptBytes) {
      const going = this.#goingFor(owner, but);
      if (going.length === 0) return false;
      this.#evict(going);
    }
    return true;
  }

  #goingFor(owner: string, but: number): readonly Resting[] {
    this.#made.flush();
    const { keptTasks, keptBytes } = this.#limits;
    const shareOf = ({ tasks, bytes }: Holding): number => Math.max(tasks / keptTasks, bytes / keptBytes);
    const holdings = this.#bySubject();
    const own = holdings.get(subjectOf(owner)) ?? { owners: [], tasks: 0, bytes: 0, ended: 0 };
    const most = Math.min(CLEARED_AT_ONCE, Math.max(1, Math.floor(keptTasks / SHARE_CLEARED)));
    const larger = [...holdings.values()].filter((each) => each !== own && shareOf(each) > shareOf(own));
    for (const each of [...larger.sort((a, b) => shareOf(b) - shareOf(a)), own]) {
      // At most half of them, so that the next round finds out who keeps most then.
      const going = this.#restingOf.intact([1, but, JSON.stringify(each.owners), Math.min(most, Math.ceil(each.ended / 2))]);
      if (going.length > 0) return going;
    }
    return this.#restingOf.intact([0, but, JSON.stringify(own.owners), 1]);
  }

  #bySubject(): ReadonlyMap<string, SubjectHolding> {
    const holdings = new Map<string, SubjectHolding>();
    for (const [owner, { tasks, bytes, ended }] of this.#holdings.all()) {
      const subject = subjectOf(owner);
      const known = holdings.get(subject);
      if (known === undefined) holdings.set(subject, { owners: [columnText(owner)], tasks, bytes, ended });
      else {
        known.owners.push(columnText(owner));
        known.tasks += tasks;
        known.bytes += bytes;
        known.ended += ended;
      }
    }
    return holdings;
  }

  #clean(): void {
    this.#untilCleaning = TASKS_PER_CLEANING;
    this.#evictOver();
    const [unused] = this.#unused.get([]) ?? [0];
    if (unused <= PAGES_GIVEN_BACK) return;
    const [pages] = this.#pages.get([]) ?? [0];
    if (unused > pages * SHARE_UNUSED) this.#giveBack();
  }

  #evictOver(): void {
    const { overBefore } = this.#tasks;
    if (this.#oldestAt > overBefore) return;
    const oldest = this.#resting.intact([1, 0, CLEARED_AT_ONCE]);
    const fresh = oldest.findIndex(([, , , statusAt]) => statusAt > overBefore);
    this.#oldestAt = oldest[fresh]?.[3] ?? Number.NEGATIVE_INFINITY;
    this.#evict(fresh < 0 ? oldest : oldest.slice(0, fresh));
  }

  #evict(going: readonly Resting[]): void {
    if (going.length === 0) return;
    for (const run of runsOf(going.map(([n]) => n))) for (const clear of this.#clear) clear.run(run);
    let bytes = 0;
    for (const [, id, size, , owner, closed] of going) {
      bytes += size;
      this.#holdings.add(nameFrom(owner), -1, -size, -closed);
      this.#evicted(nameFrom(id));
    }
    this.#totals.add({ tasks: -going.length, bytes: -bytes });
  }
}

/** Numbers that follow each other, each time the first and the last: one after the other, rows are deleted for half the price. */
function runsOf(numbers: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const runs: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}
