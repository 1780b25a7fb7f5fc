import { mkdir, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  AgentError,
  type ArtifactStore,
  createMemoryArtifacts,
  createMemoryStore,
  openDiskArtifacts,
  openRedisStore,
  openSqliteStore,
  type Store,
} from "../../src/index.js";
import { type AuditFile, openAuditFile } from "../../src/public/auth.js";
import { jsonLines, type LogSink } from "../../src/public/telemetry.js";
import type { MemberPath } from "../config/index.js";
import type { GatewayConfig } from "./config.js";
import { ConfigError } from "./config-problem.js";

/** What a gateway has for as long as it runs: it cannot change while the port is open. */
export interface GatewayResources {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly audit: AuditFile | undefined;
  readonly log: LogSink | undefined;
  close(): Promise<void>;
}

const IDS = { now: Date.now, newId: () => crypto.randomUUID() };
const TASKS_FILE = "tasks.db";
/** Lines that wait for the disk. */
const LOG_WAITING_BYTES = 4 * 1024 * 1024;

/** Opens stores and files. What cannot be opened is said where it is configured; then nothing stays open. */
export async function openResources(config: GatewayConfig, tell: (line: string) => void): Promise<GatewayResources> {
  const closers: (() => unknown)[] = [];
  const at = async <T>(path: MemberPath, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      await Promise.allSettled(closers.map((close) => close()));
      const complaints = config.complaints();
      complaints.add(path, `cannot be used: ${wordsOf(thrown)}`);
      throw new ConfigError(complaints.problems);
    }
  };
  const store = await at(["store"], () => openStore(config));
  closers.push(() => store.close?.());
  const artifacts = await at(["artifacts"], () => openArtifacts(config));
  const { audit: auditPath } = config.document;
  const audit =
    auditPath === undefined
      ? undefined
      : await at(["audit"], () =>
          openAuditFile(resolve(config.folder, auditPath), { onProblem: ({ message }) => tell(message) }),
        );
  if (audit !== undefined) closers.push(() => audit.close());
  const log = await at(["log"], () => openLog(config));
  if (log !== undefined) closers.push(log.close);
  return {
    store,
    artifacts,
    audit,
    log: log?.sink,
    close: async () => void (await Promise.allSettled(closers.map((close) => close()))),
  };
}

/** What stores say may hold their address, and with it a password. */
function wordsOf(thrown: unknown): string {
  if (thrown instanceof AgentError) return thrown.message;
  const { code } = thrown as { readonly code?: unknown }; // what the system throws has one
  return typeof code === "string" ? code : "unknown reason";
}

async function openStore({ document, folder }: GatewayConfig): Promise<Store> {
  const { store = "memory", taskLimits } = document;
  const limits = taskLimits === undefined ? {} : { limits: taskLimits };
  if (store === "memory") return createMemoryStore({ now: Date.now, ...limits });
  if ("redis" in store) return openRedisStore({ url: store.redis, ...limits });
  const place = resolve(folder, store.sqlite);
  await mkdir(place, { recursive: true, mode: 0o700 });
  return openSqliteStore({
    file: join(place, TASKS_FILE),
    now: Date.now,
    synchronous: store.durable === "power" ? "full" : "normal",
    ...limits,
  });
}

async function openArtifacts({ document, folder }: GatewayConfig): Promise<ArtifactStore> {
  const { artifacts, store } = document;
  const beside = typeof store === "object" && "sqlite" in store ? join(store.sqlite, "artifacts") : undefined;
  const place = artifacts ?? beside;
  return place === undefined ? createMemoryArtifacts(IDS) : openDiskArtifacts(resolve(folder, place), IDS);
}

async function openLog({ document: { log = "none" }, folder }: GatewayConfig) {
  if (log === "none") return undefined;
  if (log === "stderr") return { sink: jsonLines((text) => void process.stderr.write(text)), close: () => undefined };
  const file = await open(resolve(folder, log.file), "a", 0o600);
  const stream = file.createWriteStream();
  // A disk that is full, or slow, must not stop calls: the lines are lost, the gateway is not.
  stream.on("error", () => undefined);
  const write = (text: string): void => void (stream.writableLength < LOG_WAITING_BYTES && stream.write(text));
  const close = (): Promise<void> => new Promise((done) => stream.end(() => done()));
  return { sink: jsonLines(write), close };
}
