import { type Command, Option } from "commander";
import type { Interface } from "../src/index.js";
import {
  type Agent,
  AgentError,
  type ArtifactStore,
  createHost,
  createMemoryArtifacts,
  createMetrics,
  createTelemetry,
  front,
  openDiskArtifacts,
  protocols,
  type ServeOptions,
  type Server,
  serve,
} from "../src/index.js";
import { callsToTry } from "./calls-to-try.js";
import { CliError, EXIT, problemOf, usageError } from "./exit.js";
import { loadAgents } from "./load-agent.js";
import { collect, collectPairs, parsePort, settingsOf } from "./option-values.js";
import { createOutput, type Format, type Output } from "./output.js";
import { outputOption } from "./peer.js";
import { type Door, readDoor } from "./tokens.js";

interface ServeCommandOptions {
  readonly output: Format;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string;
  readonly openToEverybody?: boolean;
  readonly publicUrl?: string;
  readonly name?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly artifacts?: string;
  readonly metrics?: "loopback" | "admitted" | true;
  readonly set?: ReadonlyMap<string, string>;
  readonly try?: boolean;
}

const IDS = { now: Date.now, newId: () => crypto.randomUUID() };

const EXAMPLES = `
Examples:
  koine serve ./agent.ts --try
  koine serve ./translator.ts ./writer.mjs --port 0            several agents on any free port
  koine serve ./agent.ts --host 0.0.0.0 --token-file tokens    open to the network, for holders of a token
  KOINE_TOKENS="ann=…,bob=…" koine serve ./agent.ts            the same tokens without a file

The module's default export is made by agent({ … }); or it exports a function handle(message, task).
The tokens file has one name=token per line; a token has 16 characters or more.

Settings of a protocol (--set protocol.key=value):
  a2a.errorProfile=1.0.1     which of the two published A2A error tables is written. 1.0.1 is current and the default;
  a2a.errorProfile=1.0.0     is the older one, which also writes the problem type URI beside the error.`;

/** `koine serve`: an agent on one port, in every protocol. */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve agents on one port, in every protocol")
    .argument("<module...>", "files that export an agent")
    .option("--port <number>", "where to listen; 0 takes any free port", parsePort, 8080)
    .option("--host <address>", "on which address", "127.0.0.1")
    .option("--token-file <file>", "who may call: one name=token per line (or the same in KOINE_TOKENS)")
    .option("--open-to-everybody", "listen beyond this machine without tokens: whoever reaches the port may use the agent")
    .option("--public-url <url>", "the address callers use, when a proxy stands before this one")
    .option("--name <host>", "a further host name it is reached by; may be given several times", collect)
    .option("--allow-origin <origin>", "web pages of this origin may call; may be given several times", collect)
    .addOption(
      new Option("--metrics [who]", "Prometheus text at /metrics, for callers of this machine or for all who may call")
        .choices(["loopback", "admitted"])
        .preset("loopback"),
    )
    .option("--artifacts <dir>", "keep parts of 1 MB and more in this folder instead of in memory; they leave as links")
    .option("--set <protocol.key=value>", "a setting of one protocol, see below; may be given several times", collectPairs)
    .option("--try", "print calls one can try")
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(serveModules);
}

async function serveModules(paths: readonly string[], options: ServeCommandOptions): Promise<void> {
  const output = createOutput(options.output);
  const settings = checkedSettings(options);
  const door = await readDoor(options.tokenFile);
  const agents = (await Promise.all(paths.map(loadAgents))).flat();
  const stopped = untilStopped(output);
  const artifacts = { store: await artifactStore(options.artifacts) };
  const server = await start(agents, { ...serveOptionsOf(options, door, agents), settings, artifacts }, options);
  const interfaces = agents.map(({ name }) => interfacesOf(agents, name, server.url, settings));
  if (output.format === "json") await output.line(readyJson(server, agents, interfaces.flat()));
  else sayReady({ server, agents, interfaces, door, options }, output);
  await stopped;
  await Promise.all([server.close(), ...agents.map((agent) => agent.closePeers())]);
}

function checkedSettings({ set = new Map() }: ServeCommandOptions): NonNullable<ServeOptions["settings"]> {
  const settings = settingsOf(set);
  for (const id of Object.keys(settings)) {
    if (!protocols.some((protocol) => protocol.id === id))
      throw usageError(
        `--set ${id}.…: no protocol is called ${id}`,
        `There are: ${protocols.map((protocol) => protocol.id).join(", ")}`,
      );
  }
  return settings;
}

async function artifactStore(folder: string | undefined): Promise<ArtifactStore> {
  if (folder === undefined) return createMemoryArtifacts(IDS);
  return openDiskArtifacts(folder, IDS).catch((thrown: unknown) => {
    throw new CliError(EXIT.failure, `${folder} cannot be used for artifacts: ${problemOf(thrown).message}`);
  });
}

function serveOptionsOf(options: ServeCommandOptions, door: Door, agents: readonly Agent[]): ServeOptions {
  const { port, host, publicUrl, openToEverybody, metrics } = options;
  const names = new Set(agents.map(({ name }) => name));
  return {
    port,
    host,
    admission: door.admission,
    names: options.name ?? [],
    allowedOrigins: options.allowOrigin ?? [],
    openToEverybody: openToEverybody === true,
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
        "Give --token-file FILE (or KOINE_TOKENS), or say --open-to-everybody, or leave --host away.",
      );
    // Whatever is wrong in the form of something was given on the command line.
    if (thrown instanceof AgentError && thrown.code === "invalid_message") throw usageError(thrown.message);
    const code = codeOf(thrown);
    if (code === "EADDRINUSE")
      throw new CliError(EXIT.failure, `port ${port} of ${host} is in use`, {
        code: "port_in_use",
        hint: "Choose another with --port, or --port 0 for any free one.",
      });
    if (code === "EACCES")
      throw new CliError(EXIT.failure, `port ${port} may not be used by this user`, {
        hint: "Choose one above 1023 with --port.",
      });
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new CliError(EXIT.failure, `${host} is not an address of this machine`, { hint: "Choose another with --host." });
    throw thrown;
  }
}

/** The system's own code, wherever in the chain of causes it is. */
function codeOf(thrown: unknown): string | undefined {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (!(error instanceof AgentError) && "code" in error && typeof error.code === "string") return error.code;
  }
  return undefined;
}

/** What the port answers at, asked of the protocols themselves. */
function interfacesOf(
  agents: readonly Agent[],
  name: string,
  url: string,
  settings: NonNullable<ServeOptions["settings"]>,
): readonly Interface[] {
  const host = createHost({
    handler: () => Promise.reject(new AgentError("internal", "this host answers nobody")),
    cards: agents.map(({ card }) => card),
    ids: IDS,
    settings,
  });
  return front(host, protocols).interfaces(name, url);
}

interface Ready {
  readonly server: Server;
  readonly agents: readonly Agent[];
  /** One list per agent. */
  readonly interfaces: readonly (readonly Interface[])[];
  readonly door: Door;
  readonly options: ServeCommandOptions;
}

function sayReady({ server, agents, interfaces, door, options }: Ready, output: Output): void {
  const { bold, dim, yellow } = output.colors;
  output.say(`Serving at ${bold(server.url)}`);
  for (const [index, { name, card }] of agents.entries()) {
    output.say(`  ${bold(name)}  ${card.description}`);
    for (const { protocol, version, binding, url } of interfaces[index] ?? [])
      output.say(dim(`    ${`${protocol}@${version}`.padEnd(10)} ${binding.padEnd(10)} ${url}`));
  }
  output.say(`  callers    ${door.words}`);
  output.say("  tasks      in memory: lost when this process ends");
  output.say(
    `  artifacts  ${options.artifacts === undefined ? "in memory: lost when this process ends" : `in ${options.artifacts}`}`,
  );
  if (options.metrics !== undefined)
    output.say(`  metrics    ${server.url}/metrics (${options.metrics === true ? "loopback" : options.metrics})`);
  if (door.warning !== undefined) output.say(yellow(`  warning    ${door.warning}`));
  if (options.try === true) {
    output.say("\nTry, in another terminal:\n");
    const needsToken = door.admission.open !== true;
    for (const line of callsToTry({ url: server.url, interfaces: interfaces[0] ?? [], needsToken }))
      output.say(line.startsWith("#") ? dim(`  ${line}`) : `  ${line}`);
  }
  output.say(dim("\nCtrl-C stops it, after the calls under way have ended."));
}

function readyJson(server: Server, agents: readonly Agent[], interfaces: readonly Interface[]) {
  return {
    kind: "serving",
    url: server.url,
    port: server.port,
    agents: agents.map(({ name }) => name),
    interfaces: interfaces.map(({ protocol, version, binding, url }) => ({ protocol, version, binding, url })),
    store: "memory",
  };
}

/** Ends with the first signal; the second one ends the process. */
function untilStopped(output: Output): Promise<void> {
  return new Promise((resolve) => {
    let heard = false;
    function onSignal(): void {
      if (heard) process.exit(EXIT.interrupted);
      heard = true;
      if (output.format === "text") output.say("Stopping: calls under way may end. Once more stops at once.");
      resolve();
    }
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}
