import { AgentError, type Envelope } from "../../../envelope/index.js";
import type { StoredContent } from "../stored-content.js";
import type { RedisConnection } from "./connection.js";
import { contentOf, type TaskKeys } from "./keys.js";
import { listOf, numberOf } from "./replies.js";
import type { TaskScripts } from "./task-scripts.js";
import { messageValues } from "./writing.js";

type Values = readonly (string | number)[];

/** Attempts at one message: others may be written to the same task at the same time. */
const ATTEMPTS = 32;
const MOVED = "moved";

/**
 * Writes callers' messages. A sealed message is bound to its place, which only the script knows for sure: the place is read first, and the
 * script refuses a message whose place was taken meanwhile. Without a seal it is one round trip.
 */
export class CallerMessages {
  readonly #redis: RedisConnection;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;

  constructor(redis: RedisConnection, scripts: TaskScripts, content: StoredContent) {
    this.#redis = redis;
    this.#scripts = scripts;
    this.#content = content;
  }

  async enqueue(keys: TaskKeys, message: Envelope): Promise<unknown> {
    return this.#write(keys, message, 0, (values) => this.#scripts.run("enqueue", keys, values));
  }

  /** `more`: the arguments of the new turn. Its message comes after the entry that begins it. */
  async resume(keys: TaskKeys, message: Envelope, more: Values): Promise<readonly unknown[]> {
    const answer = await this.#write(keys, message, 1, async (values) => {
      const found = listOf(await this.#scripts.run("resume", keys, [...values, ...more]));
      return found[0] === MOVED ? MOVED : found;
    });
    return listOf(answer);
  }

  async #write(
    keys: TaskKeys,
    message: Envelope,
    newEntries: 0 | 1,
    run: (values: Values) => Promise<unknown>,
  ): Promise<unknown> {
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const place = this.#content.isSealed ? await this.#nextPlace(keys, newEntries) : undefined;
      const text = this.#content.message(contentOf(keys), place ?? { number: 0, after: 0 }, message);
      const answer = await run(messageValues(text, message, place));
      if (answer !== MOVED) return answer;
    }
    throw new AgentError("overloaded", "too many messages for this task at once");
  }

  async #nextPlace(keys: TaskKeys, newEntries: number) {
    const [columns = ""] = keys.all;
    const [messages, seq] = listOf(await this.#redis.command("HMGET", [columns, "heard", "seq"]));
    return { number: numberOf(messages ?? 0) + 1, after: numberOf(seq ?? 0) + newEntries };
  }
}
