import type { Maybe } from "../../../envelope/index.js";
import type { SealMark } from "../seal-marker.js";
import type { RedisConnection } from "./connection.js";
import { textOf } from "./replies.js";

/** The mark of a sealed store in Redis. */
export class RedisSealMark implements SealMark {
  readonly #redis: RedisConnection;
  readonly #key: string;

  constructor(redis: RedisConnection, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  async read(): Promise<Maybe<string>> {
    const answer = await this.#redis.command("GET", [this.#key]);
    return answer === null ? undefined : textOf(answer);
  }

  /** Replicas that start at the same time agree on one. */
  async add(mark: string): Promise<string> {
    await this.#redis.command("SET", [this.#key, mark, "NX"]);
    return (await this.read()) ?? mark;
  }

  /** There is no index of all tasks: those from before the seal are refused one by one. */
  async hasTasks(): Promise<boolean> {
    return false;
  }
}
