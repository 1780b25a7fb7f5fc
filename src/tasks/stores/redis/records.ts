import type { JsonObject, KeptRecord, Maybe, Records } from "../../../envelope/index.js";
import { nameOfOrdered, orderedRange, orderedText } from "../ordered-text.js";
import { checkRecordKey, noRoom, type RecordLimits, recordText } from "../record-limits.js";
import type { RedisConnection } from "./connection.js";
import { numberOf, textOf, textsOf } from "./replies.js";
import type { ScriptName } from "./scripts/script-set.js";

const NO_ROOM = 0;
const ADDED = 1;
/** As milliseconds, three centuries: longer is for ever. */
const LONGEST_KEPT_MS = 1e13;

/** Records other than tasks. Every method is one script; the time of Redis decides what has expired. */
export class RedisRecords implements Records {
  readonly #redis: RedisConnection;
  readonly #keys: readonly string[];
  readonly #limits: RecordLimits;

  constructor(redis: RedisConnection, keys: readonly string[], limits: RecordLimits) {
    this.#redis = redis;
    this.#keys = keys;
    this.#limits = limits;
  }

  async get(key: string): Promise<Maybe<JsonObject>> {
    const answer = await this.#run("getRecord", orderedText(key));
    return answer === null ? undefined : JSON.parse(textOf(answer));
  }

  async put(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<void> {
    const text = recordText(key, value, this.#limits);
    if ((await this.#run("putRecord", orderedText(key), text, keep(keepMs))) === NO_ROOM) throw noRoom();
  }

  async add(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<Maybe<JsonObject>> {
    const text = recordText(key, value, this.#limits);
    const answer = await this.#run("addRecord", orderedText(key), text, keep(keepMs));
    if (answer === NO_ROOM) throw noRoom();
    return answer === ADDED ? undefined : JSON.parse(textOf(answer));
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#run("deleteRecord", orderedText(key))) === 1;
  }

  async count(key: string, keepMs?: Maybe<number>): Promise<number> {
    checkRecordKey(key);
    const answer = await this.#run("countRecord", orderedText(key), keep(keepMs));
    if (answer === "") throw noRoom();
    return numberOf(answer);
  }

  async list(prefix: string, limit: number, after?: Maybe<string>): Promise<readonly KeptRecord[]> {
    const { from, to } = orderedRange(prefix, after);
    const found = textsOf(await this.#run("listRecords", `[${from}`, `(${to}`, limit));
    const records: KeptRecord[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      records.push({ key: nameOfOrdered(found[at] ?? ""), value: JSON.parse(found[at + 1] ?? "") });
    }
    return records;
  }

  #run(name: ScriptName, ...values: readonly (string | number)[]): Promise<unknown> {
    return this.#redis.run(name, this.#keys, [this.#redis.clock, ...values]);
  }
}

/** For how long, as the scripts count it. */
function keep(keepMs: Maybe<number>): string | number {
  return keepMs === undefined || keepMs > LONGEST_KEPT_MS ? "" : Math.floor(keepMs);
}
