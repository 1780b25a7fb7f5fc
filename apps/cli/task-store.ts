import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  AgentError,
  type ArtifactStore,
  createMemoryArtifacts,
  type Maybe,
  openDiskArtifacts,
  openRedisArtifacts,
  openRedisStore,
  openSqliteStore,
  type Store,
} from "../../src/index.js";
import type { OpenContentSeal, SqliteStoreOptions } from "../../src/public/stores.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { problemOf } from "./problem.js";

export interface StoreOptions {
  /** A folder: tasks in SQLite, large parts beside them. */
  readonly data?: string;
  /** `redis://…`: shared by replicas. */
  readonly store?: string;
  readonly durable?: "process" | "power";
}

type SealOptions = Pick<SqliteStoreOptions, "seal" | "recordsOnly">;

const TASKS_FILE = "tasks.db";
const SEAL_HINT =
  "Give --seal-store FILE with its keys; --accept-unsealed also reads tasks from before; --no-seal-store does not seal.";

/** The store of tasks; undefined for the default in memory. */
export async function openTaskStore(options: StoreOptions, seal: Maybe<OpenContentSeal>): Promise<Store | undefined> {
  return openStore(options, "tasks", { seal });
}

/** The store, for its records alone: the tasks in it may be sealed. */
export async function openRecordStore(options: StoreOptions, what: string): Promise<Store | undefined> {
  return openStore(options, what, { recordsOnly: true });
}

async function openStore(options: StoreOptions, what: string, sealing: SealOptions): Promise<Store | undefined> {
  const { data, store, durable } = options;
  if (data !== undefined && store !== undefined)
    throw usageError(`--data and --store both say where ${what} can be kept`, "Give one of them.");
  if (durable !== undefined && data === undefined)
    throw usageError("--durable is about the files of --data", "Give --data DIR too.");
  try {
    if (store !== undefined) return await openRedisStore({ url: checkedRedis(store), ...sealing });
    if (data === undefined) return undefined;
    await mkdir(data, { recursive: true, mode: 0o700 });
    const file = join(data, TASKS_FILE);
    return await openSqliteStore({ file, now: Date.now, synchronous: durable === "power" ? "full" : "normal", ...sealing });
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    const hint = thrown instanceof AgentError && thrown.facts.field === "seal" ? { hint: SEAL_HINT } : {};
    throw new CliError(EXIT.failure, `${what} cannot be kept in ${data ?? "Redis"}: ${problemOf(thrown).message}`, hint);
  }
}

const IDS = { now: Date.now, newId: () => crypto.randomUUID() };

/** The store of large parts: a folder, or else with the tasks in Redis, so that every replica has them, or else in memory. */
export async function openArtifacts(folder: string | undefined, redis: string | undefined): Promise<ArtifactStore> {
  if (folder === undefined && redis === undefined) return createMemoryArtifacts(IDS);
  try {
    if (folder !== undefined) return await openDiskArtifacts(folder, IDS);
    return await openRedisArtifacts({ ...IDS, url: checkedRedis(redis ?? "") });
  } catch (thrown) {
    const where = folder ?? "Redis";
    throw new CliError(EXIT.failure, `large parts cannot be kept in ${where}: ${problemOf(thrown).message}`);
  }
}

/** Errors never repeat the address: it may hold a password. */
function checkedRedis(url: string): string {
  if (/^rediss?:\/\//.test(url) && URL.canParse(url)) return url;
  throw usageError("--store takes the address of a Redis", "It looks like redis://127.0.0.1:6379");
}
