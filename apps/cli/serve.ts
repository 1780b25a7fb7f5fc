import { join } from "node:path";
import {
  type AdminOptions,
  type Agent,
  AgentError,
  type ArtifactStore,
  type Maybe,
  type Requirement,
  type ServeOptions,
  type Server,
  type Store,
  serve,
  type TlsOptions,
} from "../../src/index.js";
import { backgroundClock } from "../../src/internal.js";
import { type CardSigner, describeSecurity } from "../../src/public/auth.js";
import type { DeploymentName } from "../../src/public/protocols.js";
import { createMetrics, createTelemetry, type LogSink, type Metrics } from "../../src/public/telemetry.js";
import {
  droppedSpans,
  listenerInterfaces,
  loadAgents as load,
  type OpenTracing,
  openLog,
  profileLimits,
} from "../config/index.js";
import { type AdminCommandOptions, adminLine, readAdmin } from "./admin.js";
import { type CallerAdmission, type IdentityOptions, openAudit, readAdmission, readIdentity } from "./admission.js";
import { callsToTry } from "./calls-to-try.js";
import { cardKeyWarning, readCardKey } from "./card-key.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type LogOptions, logSettings } from "./gateway-overrides.js";
import { untilStopped } from "./interrupt.js";
import { type ModelOptions, openModel } from "./model.js";
import { createOutput, type Format, type Output } from "./output.js";
import { listenProblem } from "./problem.js";
import { checkedSettings, type SettingPairs } from "./protocol-settings.js";
import { IdentityFile, watchIdentity } from "./serve-identity.js";
import { checkProfile } from "./serve-profile.js";
import { readTls, type TlsFiles, watchTlsFiles } from "./serve-tls.js";
import { StateLog } from "./state-log.js";
import { type SealStoreOptions, storeSealOf } from "./store-seal.js";
import { openArtifacts, openTaskStore } from "./task-store.js";
import { startTracing, type TraceOptions } from "./tracing.js";
import { type ProxyOptions, proxiesOf } from "./trusted-proxies.js";

interface ServeCommandOptions
  extends SealStoreOptions,
    TlsFiles,
    IdentityOptions,
    ModelOptions,
    ProxyOptions,
    AdminCommandOptions,
    LogOptions,
    TraceOptions {
  readonly output: Format;
  readonly profile?: DeploymentName;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string;
  readonly openToEverybody?: boolean;
  readonly gateway?: readonly string[];
  readonly publicUrl?: string;
  readonly name?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly artifacts?: string;
  readonly metrics?: "admin" | "admitted";
  readonly metricNames?: "upper" | "both";
  readonly as?: readonly string[];
  /** False for `--no-grpc`. */
  readonly grpc: boolean;
  readonly set?: SettingPairs;
  readonly try?: boolean;
  readonly cardKey?: readonly string[];
  /** False for `--no-push`. */
  readonly push: boolean;
  readonly pushAllow?: readonly string[];
  readonly require?: readonly Requirement[];
}

export async function serveModules(paths: readonly string[], options: ServeCommandOptions): Promise<void> {
  const output = createOutput(options.output);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const settings = checkedSettings(options.set);
  const audit = openAudit(options, say);
  const callers = await readIdentity(options, await readAdmission(options.tokenFile), audit);
  if (options.gateway !== undefined && callers.admission.open === true)
    throw usageError("--gateway names a caller, and no callers are authenticated", "Give --token-file FILE, for example.");
  const recommended = checkProfile(options, callers.admission.open !== true);
  const [tls, cardKeys, warnings] = await readKeys(options);
  const agents = (await Promise.all(paths.map(loadAgents))).flat();
  const stopped = untilStopped(output);
  const metrics = options.metrics && createMetrics({ names: options.metricNames });
  const tracing = await startTracing(options, { notify: say, dropped: metrics && droppedSpans(metrics, "server") });
  const folder = options.artifacts ?? (options.data === undefined ? undefined : join(options.data, "artifacts"));
  const model = openModel(options);
  const admin = await readAdmin(options, { wanted: options.metrics === "admin", tls });
  const identity = options.identity === undefined ? undefined : await IdentityFile.open(options.identity);
  const store = await openTaskStore(options, storeSealOf(options, identity, { say, audit, metrics }));
  const artifacts = { store: await openArtifacts(folder, options.store) };
  const kept = {
    ...(store && { store }),
    ...(tls && { tls }),
    ...(audit && { audit }),
    ...(model && { model }),
    ...(admin && { admin }),
    ...(identity && { identity }),
  };
  const log = await openLog(logSettings(options), process.cwd());
  const states = log && new StateLog({ sink: log.sink, agents, store, clock: backgroundClock });
  const telemetry = telemetryOf(agents, { metrics, tracing, log: log?.sink });
  const server = await start(
    agents,
    { ...serveOptionsOf(options, callers), ...telemetry, settings, artifacts, cardKeys, ...kept },
    options,
  );
  states?.started(server.url);
  const stopRenewing = tls === undefined ? undefined : watchTlsFiles(options, reloading(server, admin, states), { say, audit });
  const stopReading = identity && watchIdentity(identity, { say, audit });
  const allWarnings = [...(callers.warning === undefined ? [] : [callers.warning]), ...warnings, ...recommended];
  const ready: Ready = { server, agents, callers, store, artifacts: artifacts.store, warnings: allWarnings, options };
  if (output.format === "json") await output.line(readyJson(ready));
  else await sayReady(ready, output);
  await stopped;
  states?.draining();
  stopRenewing?.();
  stopReading?.();
  await Promise.all([server.close(), ...agents.map((agent) => agent.closePeers())]);
  await Promise.all([store?.close?.(), artifacts.store.close?.(), audit?.close(), model?.close(), tracing?.close()]);
  await states?.stopped();
}

/** Certificate, card keys, and warnings about their files. */
async function readKeys(
  options: ServeCommandOptions,
): Promise<readonly [TlsOptions | undefined, readonly CardSigner[], readonly string[]]> {
  const paths = options.cardKey ?? [];
  const [tls, ...signers] = await Promise.all([readTls(options), ...paths.map((path) => readCardKey(path))]);
  const secret = options.tlsKey === undefined ? paths : [options.tlsKey, ...paths];
  const warnings = await Promise.all(secret.map(cardKeyWarning));
  return [tls, signers, warnings.filter((warning) => warning !== undefined)];
}

function serveOptionsOf(options: ServeCommandOptions, callers: CallerAdmission): ServeOptions {
  const { port, host, publicUrl, openToEverybody, metrics, push, pushAllow } = options;
  const trustedProxies = proxiesOf(options);
  return {
    port,
    host,
    protocols: listenerInterfaces(options.as, options.grpc),
    admission: callers.admission,
    gateways: options.gateway ?? [],
    ...profileLimits(options.profile),
    names: options.name ?? [],
    allowedOrigins: options.allowOrigin ?? [],
    openToEverybody: openToEverybody === true,
    ...(options.require === undefined ? {} : { require: options.require }),
    push: push && { allow: pushAllow ?? [] },
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
    ...(metrics === "admitted" ? { metrics } : {}),
  };
}

interface Observers {
  readonly metrics: Maybe<Metrics>;
  readonly tracing: Maybe<OpenTracing>;
  readonly log: Maybe<LogSink>;
}

function telemetryOf(agents: readonly Agent[], { metrics, tracing, log }: Observers): Pick<ServeOptions, "telemetry"> {
  if (metrics === undefined && tracing === undefined && log === undefined) return {};
  const names = new Set(agents.map(({ name }) => name));
  return { telemetry: createTelemetry({ metrics, log, tracing: tracing !== undefined, serves: (name) => names.has(name) }) };
}

/** A listener beyond loopback has the certificate of the callers' port. */
function reloading(server: Server, admin: Maybe<AdminOptions>, states: Maybe<StateLog>): Pick<Server, "reload"> {
  return {
    reload(tls) {
      server.reload(tls);
      if (admin?.tls !== undefined) server.reloadAdmin(tls);
      states?.note("certificates were reloaded", { state: "reloaded" });
    },
  };
}

/** Start-up errors, with the options that fix them. */
async function start(
  agents: readonly Agent[],
  options: ServeOptions,
  { host, port, publicUrl, trustedProxy }: ServeCommandOptions,
): Promise<Server> {
  try {
    return await serve(agents, options);
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "forbidden") {
      const given = [host === "127.0.0.1" ? "" : "--host", publicUrl && "--public-url", trustedProxy && "--trusted-proxy"];
      throw usageError(
        `refusing to listen on ${host} without authentication: anyone who can reach this address could use the agent`,
        `Give --token-file FILE (or another authentication option), or --open-to-everybody, or omit ${given.filter(Boolean).join(" and ")}.`,
      );
    }
    // Invalid values come from the command line.
    if (thrown instanceof AgentError && thrown.code === "invalid_message")
      throw usageError(thrown.message, thrown.message.includes("publicUrl") ? "Give it with --public-url URL." : undefined);
    throw listenProblem(thrown, { host, port, portBy: "--port", hostBy: "--host" });
  }
}

const IN_MEMORY = "in memory: lost when this process ends";

interface Ready {
  readonly server: Server;
  readonly agents: readonly Agent[];
  readonly callers: CallerAdmission;
  readonly store: Store | undefined;
  readonly artifacts: ArtifactStore;
  readonly warnings: readonly string[];
  readonly options: ServeCommandOptions;
}

async function sayReady(ready: Ready, output: Output): Promise<void> {
  const { server, agents, callers, store, artifacts, warnings, options } = ready;
  const { bold, dim, yellow } = output.colors;
  output.say(`Serving at ${bold(server.url)}`);
  for (const { name, card } of agents) {
    output.say(`  ${bold(name)}  ${card.description}`);
    for (const { protocol, version, binding, url } of server.interfaces(name))
      output.say(dim(`    ${`${protocol}@${version}`.padEnd(10)} ${binding.padEnd(10)} ${url}`));
  }
  output.say(`  callers    ${callers.description}`);
  output.say(`  tasks      ${store?.durability ?? IN_MEMORY}${store?.sealed === true ? "; sealed" : ""}`);
  output.say(`  artifacts  ${artifacts.durability}${store?.sealed === true ? "; not sealed" : ""}`);
  // Only the host: a path may hold a secret.
  if (options.modelUrl !== undefined) output.say(`  model      ${options.model} at ${new URL(options.modelUrl).host}`);
  if (options.metrics === "admitted") output.say(`  metrics    ${server.url}/metrics, for admitted callers`);
  if (server.admin !== undefined) output.say(`  admin      ${adminLine(server.admin)}`);
  for (const warning of warnings) output.say(yellow(`  warning    ${warning}`));
  if (options.try === true) {
    output.say("\nTry, in another terminal:\n");
    const security = describeSecurity(callers.admission);
    for (const { name, card } of agents.slice(0, 1))
      for (const line of await callsToTry({ url: server.url, card, interfaces: server.interfaces(name), security }))
        output.say(line.startsWith("#") ? dim(`  ${line}`) : `  ${line}`);
  }
  output.say(dim("\nPress Ctrl-C to stop; calls in progress are finished first."));
}

function readyJson({ server, agents, store, options }: Ready) {
  const interfaces = agents.flatMap(({ name }) => server.interfaces(name));
  return {
    kind: "serving",
    url: server.url,
    port: server.port,
    admin: server.admin?.url ?? null,
    agents: agents.map(({ name }) => name),
    interfaces: interfaces.map(({ protocol, version, binding, url }) => ({ protocol, version, binding, url })),
    store: options.store !== undefined ? "redis" : options.data !== undefined ? "sqlite" : "memory",
    durability: store?.durability ?? IN_MEMORY,
    sealed: store?.sealed ?? false,
  };
}

const SHAPE = "It needs a default export made by agent({ … }), or `export function handle(message, task) { … }`.";

/** The agents of a module; a load error comes with a hint. */
async function loadAgents(path: string): Promise<readonly Agent[]> {
  try {
    return await load(path);
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "not_found") throw usageError(thrown.message);
    if (thrown instanceof AgentError && thrown.facts.field === "agent")
      throw new CliError(EXIT.failure, thrown.message, { hint: SHAPE });
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const hint = /'koine'/.test(message) ? "Install koine next to the agent: npm install koine" : undefined;
    throw new CliError(EXIT.failure, `${path} cannot be loaded: ${message}`, hint === undefined ? {} : { hint });
  }
}
