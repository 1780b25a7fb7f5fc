import { join } from "node:path";
import {
  type Agent,
  AgentError,
  type ArtifactStore,
  createMemoryArtifacts,
  type Json,
  openDiskArtifacts,
  type ServeOptions,
  type Server,
  serve,
  type TlsOptions,
} from "../../src/index.js";
import type { CardSigner } from "../../src/public/auth.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { createMetrics, createTelemetry } from "../../src/public/telemetry.js";
import { cardKeyWarning, readCardKey } from "./card-key.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { openAudit, readIdentity } from "./identity.js";
import { listenProblem } from "./listen-problem.js";
import { loadAgents } from "./load-agent.js";
import { openModel } from "./model-options.js";
import { settingsOf } from "./option-values.js";
import { createOutput } from "./output.js";
import { problemOf } from "./problem.js";
import type { ServeCommandOptions } from "./serve-options.js";
import { type Ready, readyJson, sayReady } from "./serve-ready.js";
import { openTaskStore } from "./serve-store.js";
import { keepTlsFresh, readTls } from "./serve-tls.js";
import { type CallerAdmission, readAdmission } from "./tokens.js";
import { untilStopped } from "./until-stopped.js";

const IDS = { now: Date.now, newId: () => crypto.randomUUID() };

export async function serveModules(paths: readonly string[], options: ServeCommandOptions): Promise<void> {
  const output = createOutput(options.output);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const settings = checkedSettings(options);
  const audit = openAudit(options, say);
  const door = await readIdentity(options, await readAdmission(options.tokenFile), audit);
  const [tls, cardKeys, warnings] = await readKeys(options);
  const agents = (await Promise.all(paths.map(loadAgents))).flat();
  const stopped = untilStopped(output);
  const folder = options.artifacts ?? (options.data === undefined ? undefined : join(options.data, "artifacts"));
  const artifacts = { store: await artifactStore(folder) };
  const model = openModel(options);
  const store = await openTaskStore(options);
  const kept = { ...(store && { store }), ...(tls && { tls }), ...(audit && { audit }), ...(model && { model }) };
  const server = await start(
    agents,
    { ...serveOptionsOf(options, door, agents), settings, artifacts, cardKeys, ...kept },
    options,
  );
  const stopRenewing = tls === undefined ? undefined : keepTlsFresh(options, server, { say, audit });
  const said = door.warning === undefined ? warnings : [door.warning, ...warnings];
  const ready: Ready = { server, agents, door, store, artifacts: folder, warnings: said, options };
  if (output.format === "json") await output.line(readyJson(ready));
  else await sayReady(ready, output);
  await stopped;
  stopRenewing?.();
  await Promise.all([server.close(), ...agents.map((agent) => agent.closePeers())]);
  await Promise.all([store?.close?.(), audit?.close(), model?.close()]);
}

/** Certificate, card keys, and what is to be said about their files. */
async function readKeys(
  options: ServeCommandOptions,
): Promise<readonly [TlsOptions | undefined, readonly CardSigner[], readonly string[]]> {
  const paths = options.cardKey ?? [];
  const [tls, ...signers] = await Promise.all([readTls(options), ...paths.map((path) => readCardKey(path))]);
  const secret = options.tlsKey === undefined ? paths : [options.tlsKey, ...paths];
  const warnings = await Promise.all(secret.map(cardKeyWarning));
  return [tls, signers, warnings.filter((warning) => warning !== undefined)];
}

function checkedSettings({ set = new Map() }: ServeCommandOptions): NonNullable<ServeOptions["settings"]> {
  return Object.fromEntries(
    Object.entries(settingsOf(set)).map(([id, given]) => {
      const protocol = protocols.find((each) => each.id === id);
      if (protocol === undefined)
        throw usageError(
          `--set ${id}.…: no protocol is called ${id}`,
          `There are: ${protocols.map((each) => each.id).join(", ")}`,
        );
      return [id, Object.fromEntries(Object.entries(given).map(([name, value]) => [name, settingValue(protocol, name, value)]))];
    }),
  );
}

/** Numbers come as text; whether a setting is one, its protocol says. */
function settingValue({ id, settings = [] }: Protocol, name: string, value: Json | undefined): Json | undefined {
  const info = settings.find((each) => each.name === name);
  if (info === undefined)
    throw usageError(
      `--set ${id}.${name}: there is no such setting`,
      settings.length === 0 ? `${id} has none.` : `There are: ${settings.map((each) => each.name).join(", ")}`,
    );
  if (info.kind !== "number") return value;
  const number = Number(value);
  if (value === "" || !Number.isFinite(number)) throw usageError(`--set ${id}.${name}: ${String(value)} is not a number`);
  return number;
}

async function artifactStore(folder: string | undefined): Promise<ArtifactStore> {
  if (folder === undefined) return createMemoryArtifacts(IDS);
  return openDiskArtifacts(folder, IDS).catch((thrown: unknown) => {
    throw new CliError(EXIT.failure, `${folder} cannot be used for artifacts: ${problemOf(thrown).message}`);
  });
}

function serveOptionsOf(options: ServeCommandOptions, door: CallerAdmission, agents: readonly Agent[]): ServeOptions {
  const { port, host, publicUrl, openToEverybody, metrics, push, pushAllow } = options;
  const names = new Set(agents.map(({ name }) => name));
  return {
    port,
    host,
    admission: door.admission,
    names: options.name ?? [],
    allowedOrigins: options.allowOrigin ?? [],
    openToEverybody: openToEverybody === true,
    push: push && { allow: pushAllow ?? [] },
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(metrics === undefined
      ? {}
      : {
          metrics: metrics === true ? "loopback" : metrics,
          telemetry: createTelemetry({ metrics: createMetrics(), serves: (name) => names.has(name) }),
        }),
  };
}

/** What can go wrong before anything is served, in the words of the options that would help. */
async function start(agents: readonly Agent[], options: ServeOptions, { host, port }: ServeCommandOptions): Promise<Server> {
  try {
    return await serve(agents, options);
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "forbidden")
      throw usageError(
        `not listening on ${host} without authentication: everybody who reaches this address could use the agent`,
        "Give --token-file FILE (or another way to know callers), or say --open-to-everybody, or leave --host away.",
      );
    // Whatever is wrong in the form of something was given on the command line.
    if (thrown instanceof AgentError && thrown.code === "invalid_message")
      throw usageError(thrown.message, thrown.message.includes("publicUrl") ? "Give it with --public-url URL." : undefined);
    throw listenProblem(thrown, { host, port, portBy: "--port", hostBy: "--host" });
  }
}
