import type { RedisArtifactOptions } from "./redis-store.js";
import type { ArtifactStore } from "./store.js";

export type { RedisArtifactOptions };

/** Opens artifacts in Redis, shared by all replicas of an agent. Needs the package `ioredis`. */
export async function openRedisArtifacts(options: RedisArtifactOptions): Promise<ArtifactStore> {
  const redis = await import("./redis-store.js");
  return redis.openRedisArtifacts(options);
}
