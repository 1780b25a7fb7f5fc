import type { EventOf, OperationOf } from "../../../envelope/index.js";
import { pageEndOf, pageTokenOf } from "../../page-token.js";
import { columnText, nameFrom } from "./column-text.js";
import { isDamage } from "./failures.js";
import type { Value } from "./intact-rows.js";
import type { Connection, Statement } from "./library.js";
import type { Snapshots } from "./snapshots.js";
import type { TaskTable } from "./task-table.js";

type Query = OperationOf<"task.list">;
type Place = readonly [id: string, statusAt: number];

const OWN = "owner = ? AND (closed = 0 OR status_at > ?)";
const FILTERS = {
  contextId: "context = ?",
  idempotencyKey: "key = ?",
  state: "state = ?",
  changedSince: "status_at >= ?",
} as const;

/** An owner's tasks in pages, newest status first. All filtered columns are in one index. */
export class TaskList {
  readonly #connection: Connection;
  readonly #tasks: TaskTable;
  readonly #snapshots: Snapshots;
  readonly #defaultPageSize: number;
  /** One per combination of filters, and with or without a page before: 48 at most. */
  readonly #statements = new Map<string, Statement<readonly Value[]>>();

  constructor(
    connection: Connection,
    from: { readonly tasks: TaskTable; readonly snapshots: Snapshots },
    defaultPageSize: number,
  ) {
    this.#connection = connection;
    this.#tasks = from.tasks;
    this.#snapshots = from.snapshots;
    this.#defaultPageSize = defaultPageSize;
  }

  page(owner: string, query: Query): EventOf<"task.list"> {
    const after = pageEndOf(query.pageToken);
    const pageSize = query.pageSize ?? this.#defaultPageSize;
    const { where, values } = filterOf(query);
    const own = [columnText(owner), this.#tasks.overBefore, ...values];
    const behind = after === undefined ? "" : " AND status_at <= ? AND (status_at < ? OR id > ?)";
    const from = after === undefined ? [] : [after.at, after.at, columnText(after.id)];
    const found = this.#all<Place>(
      `SELECT id, status_at FROM tasks WHERE ${OWN}${where}${behind} ORDER BY status_at DESC, id LIMIT ?`,
      [...own, ...from, pageSize + 1],
    );
    const [[totalSize] = [0]] = this.#all<readonly [number]>(`SELECT count(*) FROM tasks WHERE ${OWN}${where}`, own);
    const page = found.slice(0, pageSize).map(([id, at]) => ({ id: nameFrom(id), at }));
    const last = page.at(-1);
    const more = last !== undefined && found.length > pageSize;
    return {
      kind: "tasks",
      tasks: page.flatMap(({ id }) => this.#task(id)),
      nextPageToken: more ? pageTokenOf(last) : "",
      pageSize,
      totalSize,
    };
  }

  /** A damaged task is an error for who asks for it, not for every list. */
  #task(taskId: string) {
    try {
      const row = this.#tasks.get(taskId);
      const snapshot = row === undefined ? undefined : this.#snapshots.at(row, row.seq);
      return snapshot === undefined ? [] : [snapshot.task];
    } catch (thrown) {
      if (isDamage(thrown)) return [];
      throw thrown;
    }
  }

  #all<Row extends readonly Value[]>(sql: string, values: readonly Value[]): readonly Row[] {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    // The caller names the columns of its own SQL.
    return statement.intact(values) as readonly Row[];
  }
}

function filterOf(query: Query): { readonly where: string; readonly values: readonly Value[] } {
  let where = "";
  const values: Value[] = [];
  for (const [name, sql] of Object.entries(FILTERS) as [keyof typeof FILTERS, string][]) {
    const wanted = query[name];
    if (wanted === undefined) continue;
    where += ` AND ${sql}`;
    values.push(typeof wanted === "string" ? columnText(wanted) : wanted);
  }
  return { where, values };
}
