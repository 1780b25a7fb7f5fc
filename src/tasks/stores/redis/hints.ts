import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { RedisConnection } from "./connection.js";
import type { TaskKeys } from "./keys.js";
import { listOf, numberOf, textOf } from "./replies.js";

/** Where to look, and the mark it was written with. */
export interface Hint {
  readonly tag: string;
  readonly taskId: string;
  readonly mark: number;
}

/**
 * A score is a time in thousandths of a millisecond with three random last digits, which distinguish writes of the same
 * millisecond. Integers, because Redis is several times slower with fractions in a small index.
 */
const MARKS_PER_MS = 1_000;

const SCAN_COUNT = 1_000;
const ROUNDS = 8;
/** Retry delay for hints that could not be processed. */
const DAMAGED_LATER_MS = 60_000;

/**
 * An index by time over the tasks of all owners that need a check. It is only a hint: the keys of the task decide. A hint is
 * written before what it refers to, so a crash in between leaves a stale hint, never a task without one.
 */
export class HintIndex {
  readonly #redis: RedisConnection;
  readonly #key: string;
  #unsettled: (string | number)[] = [];
  #settling: Promise<unknown> | undefined;

  constructor(redis: RedisConnection, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Schedules a check. Returns the score at once; it is written when `done` resolves. */
  write({ tag, id }: TaskKeys, ms: number): { readonly mark: number; readonly done: Promise<unknown> } {
    const mark = markOf(ms);
    return { mark, done: this.#redis.command("ZADD", [this.#key, mark, nameOf(tag, id)]) };
  }

  /** Schedules a check no later than this. */
  async hasten({ tag, id }: TaskKeys, ms: number): Promise<void> {
    await this.#redis.command("ZADD", [this.#key, "LT", markOf(ms), nameOf(tag, id)]);
  }

  /**
   * Takes what is due, up to `limit`. Each round corrects the hints it has read, so that the next one reads others. Damaged
   * ones are postponed and do not block the rest.
   */
  async take<T>(limit: number, take: (hint: Hint) => Promise<Maybe<T>>): Promise<readonly T[]> {
    const taken: T[] = [];
    for (let round = 0; round < ROUNDS && taken.length < limit; round++) {
      const hints = await this.#due(limit - taken.length);
      if (hints.length === 0) break;
      const found = await Promise.all(hints.map((hint) => take(hint).catch((thrown) => this.#putOff(hint, thrown))));
      for (const one of found) if (one !== undefined) taken.push(one);
    }
    return taken;
  }

  async #putOff(hint: Hint, thrown: unknown): Promise<undefined> {
    const failure = AgentError.from(thrown);
    if (failure.code === "unavailable") throw failure;
    await this.settle(hint, this.#redis.nowMs + DAMAGED_LATER_MS).done;
  }

  async #due(limit: number): Promise<readonly Hint[]> {
    const upTo = `(${(this.#redis.nowMs + 1) * MARKS_PER_MS}`;
    const answer = await this.#redis.command("ZRANGEBYSCORE", [this.#key, "-inf", upTo, "WITHSCORES", "LIMIT", 0, limit]);
    const flat = listOf(answer);
    const hints: Hint[] = [];
    for (let index = 0; index + 1 < flat.length; index += 2) {
      hints.push({ ...partsOf(textOf(flat[index])), mark: numberOf(flat[index + 1]) });
    }
    return hints;
  }

  /** Moves a hint, or removes it, unless it was written anew since. */
  settle({ tag, taskId, mark }: Hint, nextMs?: Maybe<number>): { readonly mark: number; readonly done: Promise<unknown> } {
    this.#settling ??= this.#settleAfterThisTick();
    const next = nextMs === undefined ? undefined : markOf(nextMs);
    this.#unsettled.push(nameOf(tag, taskId), mark, next ?? "");
    return { mark: next ?? mark, done: this.#settling };
  }

  /** Whose task it is. Looks through all hints, so only for the one that has forgotten. */
  async tagOf(taskId: string): Promise<string | undefined> {
    let cursor = "0";
    do {
      const [next, flat] = listOf(await this.#redis.command("ZSCAN", [this.#key, cursor, "COUNT", SCAN_COUNT]));
      for (const [index, name] of listOf(flat).entries()) {
        if (index % 2 === 1) continue;
        const hint = partsOf(textOf(name));
        if (hint.taskId === taskId) return hint.tag;
      }
      cursor = textOf(next);
    } while (cursor !== "0");
    return undefined;
  }

  /** Answers arrive in batches, and their corrections are written together. */
  async #settleAfterThisTick(): Promise<unknown> {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const values = this.#unsettled;
    this.#unsettled = [];
    this.#settling = undefined;
    return this.#redis.run("settleHints", [this.#key], values);
  }
}

function markOf(ms: number): number {
  return ms * MARKS_PER_MS + Math.floor(Math.random() * MARKS_PER_MS);
}

/** A tag has no colon; a task's id may. */
function nameOf(tag: string, taskId: string): string {
  return `${tag}:${taskId}`;
}

function partsOf(name: string): { readonly tag: string; readonly taskId: string } {
  const colon = name.indexOf(":");
  return { tag: name.slice(0, colon), taskId: name.slice(colon + 1) };
}
