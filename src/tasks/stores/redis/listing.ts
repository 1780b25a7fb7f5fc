import type { OperationOf } from "../../../envelope/index.js";
import { type PageEnd, pageEndOf } from "../../page-token.js";
import type { RedisConnection } from "./connection.js";
import { listOf, numberOf, textsOf } from "./replies.js";

/** Which tasks are on a page. */
export interface Listing {
  readonly ids: readonly string[];
  readonly totalSize: number;
  /** Undefined on the last page. */
  readonly end: PageEnd | undefined;
}

/** One page of an owner's tasks, by the owner's indexes alone: no task is read for it. */
export async function listingOf(
  redis: RedisConnection,
  indexes: readonly string[],
  query: OperationOf<"task.list">,
  pageSize: number,
): Promise<Listing> {
  const after = pageEndOf(query.pageToken);
  const { state, contextId, idempotencyKey, changedSince = "" } = query;
  const filters = [state, contextId, idempotencyKey].map((wanted) => (wanted === undefined ? "" : `=${wanted}`));
  const values = [redis.clock, ...filters, changedSince, after?.at ?? "", after?.id ?? "", pageSize];
  const [totalSize, more, lastAt, ...page] = listOf(await redis.run("list", indexes, values));
  const ids = textsOf(page);
  const last = ids.at(-1);
  const end = more === 1 && last !== undefined ? { id: last, at: numberOf(lastAt) } : undefined;
  return { ids, totalSize: numberOf(totalSize), end };
}
