import type { RedisConnection } from "./connection.js";
import { OWN_KEYS, type TaskKeys } from "./keys.js";
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

  /** Runs a script of several tasks of one owner: its indexes once, the keys and the id of each. */
  runForAll(name: ScriptName, tasks: readonly TaskKeys[]): Promise<unknown> {
    const indexes = tasks[0]?.all.slice(OWN_KEYS) ?? [];
    const keys = [...indexes, ...tasks.flatMap(({ all }) => all.slice(0, OWN_KEYS))];
    return this.#redis.run(name, keys, [this.#redis.clock, this.#origin, ...tasks.map(({ id }) => id)]);
  }
}
