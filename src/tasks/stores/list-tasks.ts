import type { EventOf, Maybe, OperationOf } from "../../envelope/index.js";
import { byStatusTime, type PageEnd, pageEndOf, pageTokenOf } from "../page-token.js";
import type { TaskRecord } from "./task-record.js";

type Query = OperationOf<"task.list">;

/** One page of an owner's tasks, newest status first. Only the page's own tasks are folded. */
export function listTasks(records: Iterable<TaskRecord>, query: Query, defaultPageSize: number): EventOf<"task.list"> {
  const after = pageEndOf(query.pageToken);
  const pageSize = query.pageSize ?? defaultPageSize;
  const matching: (PageEnd & { readonly record: TaskRecord })[] = [];
  for (const record of records) {
    if (matches(record, query)) matching.push({ at: record.statusAt, id: record.taskId, record });
  }
  matching.sort(byStatusTime);
  const from = after === undefined ? 0 : firstBehind(matching, after);
  const page = matching.slice(from, from + pageSize);
  const last = page.at(-1);
  const more = last !== undefined && from + page.length < matching.length;
  return {
    kind: "tasks",
    tasks: page.map(({ record }) => record.snapshot().task),
    nextPageToken: more ? pageTokenOf(last) : "",
    pageSize,
    totalSize: matching.length,
  };
}

function firstBehind(sorted: readonly PageEnd[], after: PageEnd): number {
  const index = sorted.findIndex((entry) => byStatusTime(after, entry) < 0);
  return index < 0 ? sorted.length : index;
}

function matches(record: TaskRecord, query: Query): boolean {
  return (
    equals(query.contextId, record.contextId) &&
    equals(query.idempotencyKey, record.key) &&
    equals(query.state, record.status) &&
    (query.changedSince === undefined || record.statusAt >= query.changedSince)
  );
}

function equals<T>(wanted: Maybe<T>, got: Maybe<T>): boolean {
  return wanted === undefined || wanted === got;
}
