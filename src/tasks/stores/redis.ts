import { randomUUID } from "node:crypto";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { type TaskLimits, taskLimits } from "../limits.js";
import type { Store } from "../store.js";
import { RedisConnection, type RedisTls } from "./redis/connection.js";
import { durabilityOf } from "./redis/durability.js";
import { KeyNames } from "./redis/keys.js";
import { RedisStore } from "./redis/redis-store.js";
import { scriptSet } from "./redis/scripts/script-set.js";
import { RedisSealMark } from "./redis/seal-mark.js";
import { WakeChannels } from "./redis/wake-channels.js";
import { type SealOptions, sealOf } from "./seal-marker.js";
import { StoredContent } from "./stored-content.js";

/** Options of `openRedisStore`. */
export interface RedisStoreOptions extends SealOptions {
  /** `redis://` or `rediss://`, with credentials. They are never logged. */
  readonly url: string;
  /** Prefix of every key, so that several stores can share one Redis. */
  readonly prefix?: Maybe<string>;
  /**
   * `keptTasks` holds for each subject, over all its tenants. `keptBytes` and the sum of all owners' idempotency keys are left to Redis's
   * own `maxmemory`.
   */
  readonly limits?: Maybe<Partial<TaskLimits>>;
  /** TLS options for `rediss:` URLs. Default: the system's CAs. */
  readonly tls?: Maybe<RedisTls>;
  /** Replaces the time of Redis, for tests. */
  readonly testClock?: Maybe<() => number>;
}

const DEFAULT_PREFIX = "koine";
const PREFIX_FORM = /^[A-Za-z0-9_.:-]{1,64}$/;
/** With a test clock, the expiry of Redis must not remove anything. */
const TEST_CLOCK_SLACK_MS = 600_000;

/** Opens a store in Redis, shared by any number of processes: each can serve every task. */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const { url, prefix = DEFAULT_PREFIX, tls, testClock } = options;
  if (!PREFIX_FORM.test(prefix)) {
    throw new AgentError("invalid_message", "prefix: up to 64 letters, digits, and any of _ . : -", { field: "prefix" });
  }
  const limits = taskLimits(options.limits);
  const slackMs = testClock === undefined ? 0 : TEST_CLOCK_SLACK_MS;
  const scripts = scriptSet({ prefix, limits, expireMs: limits.keptTasksMs + slackMs });
  const redis = await RedisConnection.open(url, tls, { scripts, testClock });
  let closing = (): void => undefined;
  try {
    const [wakeChannels, durability] = await Promise.all([WakeChannels.open(redis.client), durabilityOf(redis)]);
    closing = () => wakeChannels.close();
    const names = new KeyNames(prefix);
    const content = new StoredContent();
    const store = new RedisStore({
      redis,
      wakeChannels,
      names,
      limits,
      content,
      slackMs,
      durability,
      origin: randomUUID(),
    });
    content.sealWith(await sealOf(new RedisSealMark(redis, names.seal), options));
    return store;
  } catch (thrown) {
    closing();
    await redis.close();
    throw thrown;
  }
}
