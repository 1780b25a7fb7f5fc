import type { RedisConnection } from "./connection.js";
import { listOf } from "./replies.js";

const FAILOVER = "a failover may lose acknowledged writes";

/** The durability settings of this Redis, in one sentence for the operator. */
export async function durabilityOf(redis: RedisConnection): Promise<string> {
  const [appendonly, appendfsync] = await Promise.all([setting(redis, "appendonly"), setting(redis, "appendfsync")]);
  return `in Redis at ${redis.where}, ${wordsFor(appendonly, appendfsync)}; ${FAILOVER}`;
}

function wordsFor(appendonly: unknown, appendfsync: unknown): string {
  if (appendonly === "no") return "appendonly no: a crash of Redis loses what came after its last dump";
  if (appendonly !== "yes") return "whose durability settings cannot be read";
  switch (appendfsync) {
    case "always":
      return "appendonly always: survives a crash of Redis and of its machine";
    case "everysec":
      return "appendonly everysec: survives a crash of Redis; a crash of its machine may lose the last second";
    default:
      return "appendonly without fsync: survives a crash of Redis; a crash of its machine may lose the last half minute";
  }
}

/** Hosted Redis often does not let its settings be read. */
async function setting(redis: RedisConnection, name: string): Promise<unknown> {
  try {
    return listOf(await redis.command("CONFIG", ["GET", name]))[1];
  } catch {
    return undefined;
  }
}
