import type { Redis } from "ioredis";
import { z } from "zod";
import { EVENTS, type RequestEvent } from "../result/event.js";

/** An entry that was taken from the queue. */
export interface TakenEntry {
  readonly seq: number;
  /** When it was taken first; another coordinator may have done so. */
  readonly firstTakenNs: number;
  /** It was taken before, by a coordinator that did not live to record an answer. */
  readonly again: boolean;
}

/** Fills the queue once. A coordinator that comes later puts back what the last one had taken and not recorded, in front. */
const BEGIN = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX') then
  for seq = tonumber(ARGV[2]), tonumber(ARGV[2]) + tonumber(ARGV[3]) - 1 do redis.call('RPUSH', KEYS[2], string.format('%d', seq)) end
else
  local open = redis.call('HKEYS', KEYS[3])
  table.sort(open, function(a, b) return tonumber(a) > tonumber(b) end)
  for _, seq in ipairs(open) do
    redis.call('LREM', KEYS[2], 0, seq)
    if redis.call('HEXISTS', KEYS[4], seq) == 0 then redis.call('LPUSH', KEYS[2], seq) end
  end
end
return redis.call('GET', KEYS[1])`;

/** The next entry, and when it was taken first. */
const TAKE = `
local seq = redis.call('LPOP', KEYS[2])
if not seq then return false end
local fresh = redis.call('HSETNX', KEYS[3], seq, ARGV[1])
return {seq, redis.call('HGET', KEYS[3], seq), fresh}`;

/** The first answer of an entry is its answer. */
const SETTLE = `
redis.call('HSETNX', KEYS[4], ARGV[1], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[1])
return redis.call('HLEN', KEYS[4])`;

const SEQ = z.coerce.number().int().nonnegative();
const TAKEN = z.tuple([SEQ, z.coerce.number(), z.coerce.number()]).nullable();
/** Answers that are read at once. */
const PAGE = 500;

/** The queue of a coordinator and everything it has recorded, in Redis: a killed coordinator loses nothing. */
export class RedisQueue {
  readonly #redis: Redis;
  readonly #keys: readonly string[];

  private constructor(redis: Redis, phase: string) {
    this.#redis = redis;
    this.#keys = ["from", "pending", "taken", "answers"].map((name) => `${phase}:${name}`);
  }

  static async open(socket: string, phase: string): Promise<RedisQueue> {
    const { Redis } = await import("ioredis");
    const redis = new Redis(socket, { lazyConnect: true, maxRetriesPerRequest: 0 });
    // Reported by the command that fails.
    redis.on("error", () => undefined);
    await redis.connect();
    return new RedisQueue(redis, phase);
  }

  /** Returns when the first coordinator began. */
  async begin(nowNs: number, first: number, count: number): Promise<number> {
    return Number(await this.#run(BEGIN, nowNs, first, count));
  }

  /** Undefined: the queue is empty. */
  async take(nowNs: number): Promise<TakenEntry | undefined> {
    const taken = TAKEN.parse((await this.#run(TAKE, nowNs)) ?? null);
    if (taken === null) return undefined;
    const [seq, firstTakenNs, fresh] = taken;
    return { seq, firstTakenNs, again: fresh === 0 };
  }

  /** Records how an entry ended, once. Returns how many are recorded. */
  async settle(event: RequestEvent): Promise<number> {
    return Number(await this.#run(SETTLE, event.seq, JSON.stringify(event)));
  }

  /** Everything that was recorded, whoever did. */
  async *events(): AsyncGenerator<RequestEvent> {
    const answers = this.#keys[3] ?? "";
    const seqs = await this.#redis.hkeys(answers);
    seqs.sort((a, b) => Number(a) - Number(b));
    for (let from = 0; from < seqs.length; from += PAGE)
      for (const text of await this.#redis.hmget(answers, ...seqs.slice(from, from + PAGE)))
        yield EVENTS.request.parse(JSON.parse(text ?? ""));
  }

  close(): void {
    this.#redis.disconnect();
  }

  #run(script: string, ...values: readonly (string | number)[]): Promise<unknown> {
    return this.#redis.eval(script, this.#keys.length, ...this.#keys, ...values);
  }
}
