import { AgentError, type JsonObject } from "../../src/index.js";
import { type DeploymentName, protocols } from "../../src/public/protocols.js";
import {
  type AgentLosses,
  type AgentStatus,
  ConfigError,
  type ConfigRevision,
  type ConfigWatch,
  checkGateway,
  configRevision,
  type Gateway,
  type GatewayConfig,
  openGateway,
  problemText,
  type ReloadReport,
  readConfig,
  watchConfig,
} from "../gateway/index.js";
import { adminLine, pageAddress, pageLine } from "./admin.js";
import { callsToTry } from "./calls-to-try.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type LogOptions, withLogging, withTracing } from "./gateway-overrides.js";
import { untilStopped } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine, printable } from "./printable.js";
import { listenProblem, problemOf } from "./problem.js";
import type { TraceOptions } from "./tracing.js";

interface GatewayOptions extends TraceOptions, LogOptions {
  readonly output: Format;
  readonly profile?: DeploymentName;
  readonly check?: boolean;
  readonly connect?: boolean;
  readonly requireUpstreams?: boolean;
  /** False for `--no-watch`. */
  readonly watch: boolean;
}

const LINE = 300;

/** `koine gateway`: runs a configuration until Ctrl-C, or only checks it. */
export async function runGateway(file: string, options: GatewayOptions): Promise<void> {
  const output = createOutput(options.output);
  if (options.connect === true && options.check !== true)
    throw usageError("--connect belongs to --check", "A gateway that starts reaches its agents anyway.");
  const mark = configRevision(file);
  const read = async (): Promise<GatewayConfig> =>
    withTracing(withLogging(await readConfig(file, process.env, options.profile), options), options);
  const config = await explained(read);
  if (options.check === true) return check(file, config, options, output);
  const gateway = await startGateway(config, output, options.requireUpstreams === true);
  await sayStarted(gateway, output);
  const stopReloading = watchForReload({ file, mark, gateway, read, watches: options.watch, output });
  await untilStopped(output);
  stopReloading();
  await endGateway(gateway, output);
}

async function check(file: string, config: GatewayConfig, options: GatewayOptions, output: Output): Promise<void> {
  const { warnings, upstreams, floor } = await explained(() => checkGateway(config, options.connect === true));
  const down = upstreams.filter(({ problem }) => problem !== undefined);
  if (output.format === "json")
    await output.document({
      kind: "checked",
      file,
      warnings: [...warnings],
      floor: floor.map((each) => ({ ...each })),
      upstreams: upstreams.map(({ speaks, problem, ...rest }) => ({ ...rest, speaks: speaks ?? null, problem: problem ?? null })),
    });
  else {
    for (const { id, url, speaks, problem } of upstreams)
      await output.text(
        `${id}  ${url}${speaks === undefined ? "" : `  ${speaks}`}${problem === undefined ? "" : `  ${oneLine(problem, LINE)}`}\n`,
      );
    for (const warning of warnings) output.say(output.colors.yellow(`warning: ${warning}`));
    output.say(`${file} is valid.`);
  }
  const refused = new Set(
    floor.filter(({ outcome }) => outcome === "refused").map(({ agent, upstream }) => `${agent}/${upstream}`),
  );
  if (refused.size > 0)
    throw new CliError(EXIT.failure, `the calls to ${refused.size} of ${upstreams.length} upstreams will be refused`, {
      code: "downgrade_refused",
      hint: "Use an https URL, or accept less until a date: openings: [{ upstream, lowers, reason, until }].",
    });
  if (down.length > 0)
    throw new CliError(EXIT.unreachable, `${down.length} of ${upstreams.length} upstreams are unreachable`, {
      code: "unavailable",
    });
}

/** Opens a gateway; a start-up error comes with a hint. */
export async function startGateway(config: GatewayConfig, output: Output, requireUpstreams: boolean): Promise<Gateway> {
  const { port = 8080, host = "127.0.0.1" } = config.document.listen ?? {};
  try {
    return await explained(() =>
      openGateway(config, {
        requireUpstreams,
        notify: (line) => output.say(printable(line)),
        onError: (thrown) => output.say(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
      }),
    );
  } catch (thrown) {
    throw listenProblem(thrown, { host, port, portBy: "listen.port (or --port)", hostBy: "listen.host (or --host)" });
  }
}

export async function sayStarted(gateway: Gateway, output: Output, tryIt = false): Promise<void> {
  if (output.format === "json") await output.line(gatewayJson(gateway));
  else await sayGateway(gateway, output, tryIt);
}

/** Waits for calls in progress, then prints the losses of the run. */
export async function endGateway(gateway: Gateway, output: Output): Promise<void> {
  await gateway.close();
  if (output.format === "json") await output.line({ kind: "losses", agents: lossesJson(gateway.losses()) });
  else for (const line of lossLines(gateway.losses())) output.say(line);
}

interface ReloadOptions {
  readonly file: string;
  /** The state of the file when it was read. */
  readonly mark: ConfigRevision;
  readonly gateway: Gateway;
  read(): Promise<GatewayConfig>;
  readonly watches: boolean;
  readonly output: Output;
}

function watchForReload({ file, mark, gateway, read, watches, output }: ReloadOptions): () => void {
  async function reload(): Promise<void> {
    try {
      const report = await gateway.reload(await read());
      if (output.format === "json") await output.line({ kind: "reloaded", ...namesOf(report) });
      else output.say(reloadLine(report));
    } catch (thrown) {
      const message = thrown instanceof ConfigError ? thrown.problems.map(problemText).join("\n  ") : problemOf(thrown).message;
      if (output.format === "json") output.say(JSON.stringify({ error: { code: "reload_refused", message } }));
      else
        output.say(output.colors.yellow(`Reload rejected; still running the previous configuration:\n  ${printable(message)}`));
    }
  }
  const onHangUp = (): void => void reload();
  process.on("SIGHUP", onHangUp);
  const watching = watches ? watched(file, mark, () => void reload(), output) : undefined;
  return () => {
    process.off("SIGHUP", onHangUp);
    watching?.close();
  };
}

/** A system without free file watches is no reason not to run. */
function watched(file: string, mark: ConfigRevision, changed: () => void, output: Output): ConfigWatch | undefined {
  try {
    return watchConfig(file, changed, mark);
  } catch (thrown) {
    output.say(output.colors.yellow(`warning: ${file} is not watched (${problemOf(thrown).message}); send SIGHUP to reload it`));
    return undefined;
  }
}

function namesOf({ added, changed, removed, kept }: Awaited<ReturnType<Gateway["reload"]>>) {
  return { added: [...added], changed: [...changed], removed: [...removed], kept: [...kept] };
}

/** Errors at start-up that only another configuration ends. */
const CONFIG_CODES: ReadonlySet<string> = new Set(["not_found", "too_large", "loop", "invalid_message"]);

/** Reports an invalid configuration as a usage error, one problem per line. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ConfigError) {
      const [first, ...more] = thrown.problems.map(problemText);
      throw usageError(more.length === 0 ? (first ?? "") : [`${more.length + 1} problems`, first, ...more].join("\n  "));
    }
    if (thrown instanceof AgentError && CONFIG_CODES.has(thrown.code)) throw usageError(thrown.message);
    throw thrown;
  }
}

/** The start-up text. */
async function sayGateway(gateway: Gateway, output: Output, tryIt: boolean): Promise<void> {
  const { bold, dim, yellow } = output.colors;
  output.say(`Gateway at ${bold(gateway.url)}`);
  for (const agent of gateway.agents()) sayAgent(agent, output);
  output.say(`  callers    ${gateway.callers}`);
  output.say(`  tasks      ${gateway.durability}`);
  if (gateway.pageUrl !== undefined) output.say(`  page       ${pageLine(gateway.pageUrl, gateway.admin)}`);
  else if (gateway.admin !== undefined) output.say(`  admin      ${adminLine(gateway.admin)}`);
  for (const warning of gateway.warnings) output.say(yellow(`  warning    ${warning}`));
  if (tryIt) await sayCalls(gateway, output);
  output.say(dim("\nPress Ctrl-C to stop; calls in progress are finished first."));
}

function sayAgent(agent: AgentStatus, output: Output): void {
  const { bold, dim, green, red, yellow } = output.colors;
  const paint = agent.health === "up" ? green : red;
  output.say(`  ${bold(agent.name)}  ${paint(agent.health)}  ${agent.mode}  ${oneLine(agent.card.description, LINE)}`);
  for (const { id, url, speaks, proved, problem, evidence } of agent.upstreams) {
    const known = speaks === undefined ? "" : `  ${speaks}, ${proved ? "verified by a live answer" : "not verified yet"}`;
    output.say(`    upstream ${id === agent.name ? "" : `${id}  `}${url}${known}`);
    if (problem !== undefined) output.say(yellow(`             ${oneLine(problem, LINE)}`));
    for (const sentence of evidence) output.say(dim(`             ${oneLine(sentence, LINE)}`));
  }
  for (const { protocol, version, binding, url } of agent.interfaces)
    output.say(dim(`    listener ${`${protocol}@${version}`.padEnd(10)} ${binding.padEnd(10)} ${url}`));
  for (const line of [...emulations(agent), ...agent.notes]) output.say(`    note     ${line}`);
}

/** Features that the gateway emulates because the upstream protocol lacks them. */
function emulations({ upstreams, mode }: AgentStatus): readonly string[] {
  if (mode === "relay") return [];
  const upstreamProtocols = new Set(upstreams.flatMap(({ speaks }) => (speaks === undefined ? [] : [speaks.split("@", 1)[0]])));
  return protocols
    .filter(({ id }) => upstreamProtocols.has(id))
    .flatMap(({ id, traits }) => [
      ...(traits.streaming ? [] : [`${id} has no streaming: emulated by one final event`]),
      ...(traits.tasks ? [] : [`${id} has no tasks: emulated by tasks of the gateway`]),
    ]);
}

async function sayCalls(gateway: Gateway, output: Output): Promise<void> {
  const [first] = gateway.agents();
  if (first === undefined) return;
  output.say("\nTry, in another terminal:\n");
  const { url, security } = gateway;
  for (const line of await callsToTry({ url, card: first.card, interfaces: first.interfaces, security }))
    output.say(line.startsWith("#") ? output.colors.dim(`  ${line}`) : `  ${line}`);
}

/** The start-up document of `-o json`. */
function gatewayJson(gateway: Gateway): JsonObject {
  return {
    kind: "gateway",
    url: gateway.url,
    port: gateway.port,
    page: gateway.pageUrl === undefined ? null : pageAddress(gateway.pageUrl, gateway.admin),
    admin: gateway.admin?.url ?? null,
    durability: gateway.durability,
    warnings: [...gateway.warnings],
    agents: gateway.agents().map(({ name, health, problem, mode, upstreams, interfaces, notes }) => ({
      name,
      health,
      problem: problem ?? null,
      mode,
      upstreams: upstreams.map((each) => ({
        id: each.id,
        url: each.url,
        health: each.health,
        problem: each.problem ?? null,
        speaks: each.speaks ?? null,
        proved: each.proved,
        evidence: [...each.evidence],
      })),
      interfaces: interfaces.map(({ protocol, version, binding, url }) => ({ protocol, version, binding, url })),
      notes: [...notes],
    })),
  };
}

/** The result of a reload, on one line. */
function reloadLine({ added, changed, removed, kept, warnings }: ReloadReport): string {
  const words = (what: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${what} ${names.join(", ")}`];
  const all = [...words("added", added), ...words("changed", changed), ...words("removed", removed), ...words("kept", kept)];
  return [`Configuration reloaded: ${all.join("; ")}.`, ...warnings.map((each) => `  warning    ${each}`)].join("\n");
}

/** The losses of a run, per agent. */
function lossLines(agents: readonly AgentLosses[]): readonly string[] {
  return agents.flatMap(({ agent, messages, losses, others }) => {
    const through = `${messages} ${messages === 1 ? "message" : "messages"}`;
    if (losses.length === 0 && others === 0) return [`${agent}: nothing was lost in ${through}.`];
    return [
      `${agent}: lost in ${through}:`,
      ...losses.map(
        ({ count, protocol, path, reason }) =>
          `  ${String(count).padStart(5)} × ${protocol.padEnd(6)} ${oneLine(path, 80)} (${oneLine(reason, LINE)})`,
      ),
      ...(others === 0 ? [] : [`  ${String(others).padStart(5)} × of other kinds`]),
    ];
  });
}

function lossesJson(agents: readonly AgentLosses[]): JsonObject[] {
  return agents.map(({ agent, messages, losses, others }) => ({
    agent,
    messages,
    others,
    losses: losses.map(({ protocol, path, valueKind, reason, count }) => ({ protocol, path, kind: valueKind, reason, count })),
  }));
}
