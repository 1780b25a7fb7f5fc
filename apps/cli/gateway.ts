import { AgentError } from "../../src/index.js";
import {
  ConfigError,
  type ConfigMark,
  type ConfigWatch,
  checkGateway,
  type Gateway,
  type GatewayConfig,
  markOf,
  openGateway,
  problemText,
  readConfig,
  watchConfig,
} from "../gateway/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { GatewayOptions } from "./gateway-options.js";
import { gatewayJson, lossesJson, lossLines, reloadLine, sayGateway } from "./gateway-print.js";
import { listenProblem } from "./listen-problem.js";
import { createOutput, type Output } from "./output.js";
import { oneLine, printable } from "./printable.js";
import { problemOf } from "./problem.js";
import { untilStopped } from "./until-stopped.js";

const PROBLEM_CHARACTERS = 300;

/** Reads a configuration and runs it until Ctrl-C, or only checks it. */
export async function runGateway(file: string, options: GatewayOptions): Promise<void> {
  const output = createOutput(options.output);
  if (options.connect === true && options.check !== true)
    throw usageError("--connect belongs to --check", "A gateway that starts reaches its agents anyway.");
  const mark = markOf(file);
  const config = await explained(() => readConfig(file));
  if (options.check === true) return check(file, config, options, output);
  const gateway = await startGateway(config, output, options.requireUpstreams === true);
  await sayStarted(gateway, output);
  const stopReloading = keepFresh({ file, mark, gateway, watches: options.watch, output });
  await untilStopped(output);
  stopReloading();
  await endGateway(gateway, output);
}

async function check(file: string, config: GatewayConfig, options: GatewayOptions, output: Output): Promise<void> {
  const { warnings, upstreams } = await explained(() => checkGateway(config, options.connect === true));
  const down = upstreams.filter(({ problem }) => problem !== undefined);
  if (output.format === "json")
    await output.document({
      kind: "checked",
      file,
      warnings: [...warnings],
      upstreams: upstreams.map(({ speaks, problem, ...rest }) => ({ ...rest, speaks: speaks ?? null, problem: problem ?? null })),
    });
  else {
    for (const { id, url, speaks, problem } of upstreams)
      await output.text(
        `${id}  ${url}${speaks === undefined ? "" : `  ${speaks}`}${problem === undefined ? "" : `  ${oneLine(problem, PROBLEM_CHARACTERS)}`}\n`,
      );
    for (const warning of warnings) output.say(output.colors.yellow(`warning: ${warning}`));
    output.say(`${file} is sound.`);
  }
  if (down.length > 0)
    throw new CliError(EXIT.unreachable, `${down.length} of ${upstreams.length} upstreams cannot be reached`, {
      code: "unavailable",
    });
}

/** Opens a gateway; what keeps it from starting is said in words that help. */
export async function startGateway(config: GatewayConfig, output: Output, requireUpstreams: boolean): Promise<Gateway> {
  const { port = 8080, host = "127.0.0.1" } = config.document.listen ?? {};
  try {
    return await explained(() =>
      openGateway(config, {
        requireUpstreams,
        tell: (line) => output.say(printable(line)),
        onError: (thrown) => output.say(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
      }),
    );
  } catch (thrown) {
    throw listenProblem(thrown, { host, port, portBy: "listen.port (or --port)", hostBy: "listen.host (or --host)" });
  }
}

export async function sayStarted(gateway: Gateway, output: Output, tryIt = false): Promise<void> {
  if (output.format === "json") await output.line(gatewayJson(gateway));
  else sayGateway(gateway, output, tryIt);
}

/** Lets calls under way end, and says what was lost in all of them. */
export async function endGateway(gateway: Gateway, output: Output): Promise<void> {
  await gateway.close();
  if (output.format === "json") await output.line({ kind: "losses", agents: lossesJson(gateway.losses()) });
  else for (const line of lossLines(gateway.losses())) output.say(line);
}

/** Takes the file into use again whenever it changes, and on SIGHUP. */
interface Fresh {
  readonly file: string;
  /** Of the file as it was read. */
  readonly mark: ConfigMark;
  readonly gateway: Gateway;
  readonly watches: boolean;
  readonly output: Output;
}

function keepFresh({ file, mark, gateway, watches, output }: Fresh): () => void {
  async function reload(): Promise<void> {
    try {
      const report = await gateway.reload(await readConfig(file));
      if (output.format === "json") await output.line({ kind: "reloaded", ...namesOf(report) });
      else output.say(reloadLine(report));
    } catch (thrown) {
      const message = thrown instanceof ConfigError ? thrown.problems.map(problemText).join("\n  ") : problemOf(thrown).message;
      if (output.format === "json") output.say(JSON.stringify({ error: { code: "reload_refused", message } }));
      else output.say(output.colors.yellow(`Not taken into use, the old configuration still is:\n  ${printable(message)}`));
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

/** A system that has no more watches to give is no reason not to run. */
function watched(file: string, mark: ConfigMark, changed: () => void, output: Output): ConfigWatch | undefined {
  try {
    return watchConfig(file, changed, mark);
  } catch (thrown) {
    output.say(output.colors.yellow(`warning: ${file} is not watched (${problemOf(thrown).message}); SIGHUP takes it into use`));
    return undefined;
  }
}

function namesOf({ added, changed, removed, kept }: Awaited<ReturnType<Gateway["reload"]>>) {
  return { added: [...added], changed: [...changed], removed: [...removed], kept: [...kept] };
}

/** What is wrong with a configuration is a usage error, each problem on a line of its own. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ConfigError) {
      const [first, ...more] = thrown.problems.map(problemText);
      throw usageError(more.length === 0 ? (first ?? "") : [`${more.length + 1} problems`, first, ...more].join("\n  "));
    }
    if (thrown instanceof AgentError && (thrown.code === "not_found" || thrown.code === "too_large" || thrown.code === "loop"))
      throw usageError(thrown.message);
    throw thrown;
  }
}
