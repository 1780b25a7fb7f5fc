import type { Store } from "../store.js";
import type { RedisStoreOptions } from "./redis.js";
import type { SqliteStoreOptions } from "./sqlite.js";

/** Opens a store in Redis that any number of processes can share: each of them serves any task. Needs the package `ioredis`. */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const redis = await import("./redis.js");
  return redis.openRedisStore(options);
}

/**
 * Opens a store in a SQLite file, for one or several processes of this machine. Needs the package `libsql`. Space freed by
 * deleted tasks is reused; the file shrinks gradually when more than half of it is unused.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const sqlite = await import("./sqlite.js");
  return sqlite.openSqliteStore(options);
}
