import type { Redis, RedisOptions } from "ioredis";
import { AgentError, type Maybe } from "../../../envelope/index.js";
import { isScriptUnknown, storeFailure } from "./failures.js";
import { listOf, numberOf } from "./replies.js";
import type { ScriptName, ScriptSet } from "./scripts/script-set.js";

/** For a Redis behind TLS: a private authority, and a certificate of our own. PEM text. */
export interface RedisTls {
  readonly ca?: Maybe<string>;
  readonly cert?: Maybe<string>;
  readonly key?: Maybe<string>;
  readonly servername?: Maybe<string>;
}

/** A Redis that does not answer in this time is unavailable: pending calls fail, and the connection is reopened. */
export const REDIS_ANSWER_MS = 3_000;
const CONNECT_MS = 3_000;
const RETRY_FIRST_MS = 50;
const RETRY_MOST_MS = 1_000;
const DEFAULT_PORT = "6379";
/** How often the time of Redis is read: the clocks of two machines drift apart. */
const ASK_TIME_MS = 60_000;

type Value = string | number;

interface Equipment {
  readonly scripts: ScriptSet;
  readonly testClock: Maybe<() => number>;
}

/** One connection for commands. Nothing is queued while Redis is unavailable: calls fail at once, and the caller decides. */
export class RedisConnection {
  /** Host and port, without credentials. */
  readonly where: string;
  readonly client: Redis;
  readonly #scripts: ScriptSet;
  readonly #testClock: Maybe<() => number>;
  #aheadMs = 0;
  #timeAskedMs = 0;
  #gathering = false;
  #atEnd: (() => void)[] = [];
  #backAtMs = Number.NEGATIVE_INFINITY;

  private constructor(client: Redis, where: string, { scripts, testClock }: Equipment) {
    this.client = client;
    this.where = where;
    this.#scripts = scripts;
    this.#testClock = testClock;
    // Connection errors are reported to the callers of the failed commands.
    client.on("error", () => undefined);
    client.on("ready", () => void this.#becomeReady().catch(() => undefined));
  }

  static async open(url: string, tls: Maybe<RedisTls>, equipment: Equipment): Promise<RedisConnection> {
    const where = whereOf(url);
    const { Redis } = await import("ioredis");
    const connection = new RedisConnection(new Redis(url, optionsFor(tls)), where, equipment);
    try {
      await connection.client.connect();
      await connection.#askTime();
      connection.client.on("ready", () => {
        connection.#backAtMs = performance.now();
      });
    } catch (thrown) {
      connection.client.disconnect();
      throw storeFailure(thrown);
    }
    return connection;
  }

  /** The time for the scripts: theirs, unless a test has its own. */
  get clock(): Value {
    return this.#testClock?.() ?? "";
  }

  /** The approximate time of Redis. Good enough to schedule a check, never to decide. */
  get nowMs(): number {
    if (this.#testClock !== undefined) return this.#testClock();
    const elapsedMs = performance.now();
    if (elapsedMs - this.#timeAskedMs > ASK_TIME_MS) void this.#askTime().catch(() => undefined);
    return Math.floor(elapsedMs + this.#aheadMs);
  }

  /** How long ago the connection came back; one that never broke is as good as one that came back long ago. */
  get backForMs(): number {
    return performance.now() - this.#backAtMs;
  }

  async run(name: ScriptName, keys: readonly string[], values: readonly Value[]): Promise<unknown> {
    const { sha, lua } = this.#scripts[name];
    try {
      return await this.#send("EVALSHA", [sha, keys.length, ...keys, ...values]);
    } catch (thrown) {
      if (!isScriptUnknown(thrown)) throw storeFailure(thrown);
      return this.command("EVAL", [lua, keys.length, ...keys, ...values]);
    }
  }

  async command(name: string, values: Value[]): Promise<unknown> {
    try {
      return await this.#send(name, values);
    } catch (thrown) {
      throw storeFailure(thrown);
    }
  }

  /** Commands already sent are still answered. */
  async close(): Promise<void> {
    await this.client.quit().catch(() => undefined);
    this.client.disconnect();
  }

  /** Runs this at the end of this turn of the event loop: what it sends goes out with the other commands of the turn. */
  atEndOfTurn(run: () => void): void {
    this.#atEnd.push(run);
    this.#gather();
  }

  /** Sends the commands of this turn so far, for which there is enough to do until its end. */
  sendNow(): void {
    if (!this.#gathering) return;
    const { stream } = this.client;
    stream?.uncork();
    stream?.cork();
  }

  #send(name: string, values: Value[]): Promise<unknown> {
    this.#gather();
    return this.client.call(name, values);
  }

  /** Commands of one turn of the event loop are sent in one write. */
  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    const { stream } = this.client;
    stream?.cork();
    setImmediate(() => {
      const last = this.#atEnd;
      this.#atEnd = [];
      for (const run of last) run();
      this.#gathering = false;
      stream?.uncork();
    });
  }

  /** A restarted Redis has no scripts, and a new primary has its own clock. */
  async #becomeReady(): Promise<void> {
    await Promise.all([this.#askTime(), ...Object.values(this.#scripts).map(({ lua }) => this.client.script("LOAD", lua))]);
  }

  async #askTime(): Promise<void> {
    this.#timeAskedMs = performance.now();
    const [seconds, micros] = listOf(await this.client.time());
    this.#aheadMs = numberOf(seconds) * 1_000 + numberOf(micros) / 1_000 - performance.now();
  }
}

/** The connection for wake-ups is a duplicate, so this applies to both. */
function optionsFor(tls: Maybe<RedisTls>) {
  return {
    // The older form of answers, which every Redis speaks: one shape for each command.
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    socketTimeout: REDIS_ANSWER_MS,
    retryStrategy: (tries: number) => Math.min(RETRY_FIRST_MS * 2 ** Math.min(tries, 10), RETRY_MOST_MS),
    ...(tls === undefined ? {} : { tls: { ...tls } }),
  } satisfies RedisOptions;
}

function whereOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The address is not shown: it may contain a password.
  if (parsed === undefined || !["redis:", "rediss:"].includes(parsed.protocol) || parsed.hostname === "") {
    throw new AgentError("invalid_message", "the address of Redis must look like redis://host:port", { field: "url" });
  }
  return `${parsed.hostname}:${parsed.port || DEFAULT_PORT}`;
}
