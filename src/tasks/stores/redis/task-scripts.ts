import type { RedisConnection } from "./connection.js";
import type { TaskKeys } from "./keys.js";
import type { ScriptName } from "./scripts/script-set.js";

/** Runs the scripts of one task with the common arguments: time, origin and task id. */
export class TaskScripts {
  readonly #redis: RedisConnection;
  readonly #origin: string;

  /** `origin` identifies this store, so that it ignores its own notifications. */
  constructor(redis: RedisConnection, origin: string) {
    this.#redis = redis;
    this.#origin = origin;
  }

  run(name: ScriptName, keys: TaskKeys, values: readonly (string | number)[], more?: readonly string[]): Promise<unknown> {
    const all = more === undefined ? keys.all : [...keys.all, ...more];
    return this.#redis.run(name, all, [this.#redis.clock, this.#origin, keys.id, ...values]);
  }
}
