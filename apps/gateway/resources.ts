import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  AgentError,
  type ArtifactStore,
  createMemoryArtifacts,
  createMemoryStore,
  type Maybe,
  openDiskArtifacts,
  openRedisArtifacts,
  openRedisStore,
  openSqliteStore,
  type Store,
} from "../../src/index.js";
import { type AuditFile, openAuditFile } from "../../src/public/auth.js";
import type { OpenContentSeal } from "../../src/public/stores.js";
import type { LogSink } from "../../src/public/telemetry.js";
import { type MemberPath, openLog } from "../config/index.js";
import type { GatewayConfig } from "./config.js";
import { ConfigError } from "./config-problem.js";
import { LearnedChoices } from "./learned-choices.js";
import { storeSealOf } from "./store-seal.js";

/** Stores and files that stay open while the gateway runs. */
export interface GatewayResources {
  readonly store: Store;
  /** Choices by the outcomes of calls, which are kept in the store. */
  readonly choices: LearnedChoices;
  readonly artifacts: ArtifactStore;
  readonly audit: AuditFile | undefined;
  readonly log: LogSink | undefined;
  close(): Promise<void>;
}

const IDS = { now: Date.now, newId: () => crypto.randomUUID() };
const TASKS_FILE = "tasks.db";

/** Opens stores and files. On failure it closes what is open and throws ConfigError with the member's position. */
export async function openResources(
  config: GatewayConfig,
  notify: (line: string) => void,
  given?: Store,
): Promise<GatewayResources> {
  const closers: (() => unknown)[] = [];
  const at = async <T>(path: MemberPath, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      await Promise.allSettled(closers.map((close) => close()));
      const problems = config.newProblems();
      problems.add(path, `cannot be opened: ${errorText(thrown)}`);
      throw new ConfigError(problems.list);
    }
  };
  const store = given ?? (await at(["store"], async () => openStore(config, await storeSealOf(config, notify))));
  const choices = new LearnedChoices(store.records, notify);
  closers.push(async () => {
    await choices.settled();
    if (store !== given) await store.close?.();
  });
  const artifacts = await at(["artifacts"], () => openArtifacts(config));
  closers.push(() => artifacts.close?.());
  const { audit: auditPath } = config.document;
  const audit =
    auditPath === undefined
      ? undefined
      : await at(["audit"], () =>
          openAuditFile(resolve(config.folder, auditPath), { onProblem: ({ message }) => notify(message) }),
        );
  if (audit !== undefined) closers.push(() => audit.close());
  const log = await at(["log"], () => openLog(config.document, config.folder));
  if (log !== undefined) closers.push(log.close);
  return {
    store,
    choices,
    artifacts,
    audit,
    log: log?.sink,
    close: async () => void (await Promise.allSettled(closers.map((close) => close()))),
  };
}

/** Only known messages and error codes: others may contain a URL with a password. */
function errorText(thrown: unknown): string {
  if (thrown instanceof AgentError) return thrown.message;
  const { code } = thrown as { readonly code?: unknown }; // system errors have one
  return typeof code === "string" ? code : "unknown reason";
}

async function openStore({ document, folder }: GatewayConfig, seal: Maybe<OpenContentSeal>): Promise<Store> {
  const { store = "memory", taskLimits } = document;
  const limits = taskLimits === undefined ? {} : { limits: taskLimits };
  if (store === "memory") return createMemoryStore({ now: Date.now, ...limits });
  if ("redis" in store) return openRedisStore({ url: store.redis, seal, ...limits });
  const directory = resolve(folder, store.sqlite);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return openSqliteStore({
    file: join(directory, TASKS_FILE),
    now: Date.now,
    synchronous: store.durable === "power" ? "full" : "normal",
    seal,
    ...limits,
  });
}

async function openArtifacts({ document, folder }: GatewayConfig): Promise<ArtifactStore> {
  const { artifacts, store } = document;
  const besideStore = typeof store === "object" && "sqlite" in store ? join(store.sqlite, "artifacts") : undefined;
  const directory = artifacts ?? besideStore;
  if (directory !== undefined) return openDiskArtifacts(resolve(folder, directory), IDS);
  // Beside the tasks, so that every replica has them.
  if (typeof store === "object" && "redis" in store) return openRedisArtifacts({ ...IDS, url: store.redis });
  return createMemoryArtifacts(IDS);
}
