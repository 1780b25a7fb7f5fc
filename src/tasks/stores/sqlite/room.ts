import type { TaskLimits } from "../../limits.js";
import { nameFrom } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
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

const TABLES = ["journal", "heard", "snapshots", "pushes", "saved"] as const;
type Resting = readonly [n: number, id: string, bytes: number, statusAt: number];

/** Enforces storage limits. Evicts the oldest finished tasks first, then the oldest interrupted ones; never running ones. */
export class Room {
  readonly #totals: Totals;
  readonly #tasks: TaskTable;
  readonly #limits: TaskLimits;
  readonly #evicted: (taskId: string) => void;
  readonly #resting: Statement<Resting>;
  readonly #clear: readonly Statement<readonly []>[];
  readonly #pages: Statement<readonly [number, number]>;
  readonly #giveBack: () => void;
  #untilCleaning = TASKS_PER_CLEANING;

  constructor(
    connection: Connection,
    kept: { readonly totals: Totals; readonly tasks: TaskTable },
    limits: TaskLimits,
    evicted: (taskId: string) => void,
  ) {
    this.#totals = kept.totals;
    this.#tasks = kept.tasks;
    this.#limits = limits;
    this.#evicted = evicted;
    this.#resting = connection.prepare(
      "SELECT n, id, bytes, status_at FROM tasks WHERE rest IS NOT NULL AND closed = ? AND n <> ? ORDER BY rest LIMIT ?",
    );
    const these = "IN (SELECT value FROM json_each(?))";
    this.#clear = [
      ...TABLES.map((table) => connection.prepare(`DELETE FROM ${table} WHERE task ${these}`)),
      connection.prepare(`DELETE FROM tasks WHERE n ${these}`),
    ];
    this.#pages = connection.prepare("SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count");
    this.#giveBack = () => connection.exec(`PRAGMA incremental_vacuum(${PAGES_GIVEN_BACK})`);
  }

  /** Makes room for `bytes` more in existing tasks. `but`: a task that must not be evicted. */
  hasRoom(bytes: number, but = 0): boolean {
    return this.#makeRoom(bytes, 0, but);
  }

  hasRoomForTask(bytes: number): boolean {
    this.#untilCleaning -= 1;
    if (this.#untilCleaning <= 0) this.#clean();
    return this.#makeRoom(bytes, 1, 0);
  }

  #makeRoom(bytes: number, tasks: 0 | 1, but: number): boolean {
    const { keptTasks, keptBytes } = this.#limits;
    while (this.#totals.tasks + tasks > keptTasks || this.#totals.bytes + bytes > keptBytes) {
      const share = Math.min(CLEARED_AT_ONCE, Math.max(1, Math.floor(keptTasks / SHARE_CLEARED)));
      const ended = this.#resting.all([1, but, share]);
      const going = ended.length > 0 ? ended : this.#resting.all([0, but, 1]);
      if (going.length === 0) return false;
      this.#evict(going);
    }
    return true;
  }

  #clean(): void {
    this.#untilCleaning = TASKS_PER_CLEANING;
    const { overBefore } = this.#tasks;
    const oldest = this.#resting.all([1, 0, CLEARED_AT_ONCE]);
    const fresh = oldest.findIndex(([, , , statusAt]) => statusAt > overBefore);
    this.#evict(fresh < 0 ? oldest : oldest.slice(0, fresh));
    const [unused, pages] = this.#pages.get([]) ?? [0, 0];
    if (unused > PAGES_GIVEN_BACK && unused > pages * SHARE_UNUSED) this.#giveBack();
  }

  #evict(going: readonly Resting[]): void {
    if (going.length === 0) return;
    const numbers = JSON.stringify(going.map(([n]) => n));
    for (const clear of this.#clear) clear.run([numbers]);
    let bytes = 0;
    for (const [, id, size] of going) {
      bytes += size;
      this.#evicted(nameFrom(id));
    }
    this.#totals.add({ tasks: -going.length, bytes: -bytes });
  }
}
