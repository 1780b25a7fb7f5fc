import type { Command } from "commander";
import type { Credentials } from "../../src/index.js";
import type { AgentSource } from "../mcp/index.js";
import { usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput } from "./output.js";
import { type ConnectionOptions, checkedAddress, connectOptionsOf, lossReporter } from "./peer.js";
import { oneLine } from "./printable.js";
import { problemOf } from "./problem.js";

interface McpCommandOptions extends ConnectionOptions {
  readonly gateway?: readonly string[];
  readonly perSkill?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly refresh?: number;
  readonly sameCredentials?: boolean;
}

export async function serveTools(given: readonly string[], options: McpCommandOptions, command: Command): Promise<void> {
  const agents = given.map(readSource);
  const gateways = (options.gateway ?? []).map(checkedAddress);
  if (agents.length + gateways.length === 0)
    throw usageError("there is no agent to offer", "Give a URL: koine mcp http://127.0.0.1:8080, or --gateway URL.");
  checkNames(agents);
  const output = createOutput("text");
  const connect = { ...(await connectOptionsOf(options)), onLoss: lossReporter(output) };
  checkOrigins([...agents.map(({ url }) => url), ...gateways], connect.credentials, options);
  const interrupt = listenForInterrupt();
  const { serveMcp } = await import("../mcp/index.js");
  try {
    await serveMcp({
      agents,
      gateways,
      connect,
      perSkill: options.perSkill === true,
      ...(options.refresh === undefined ? {} : { refreshMs: options.refresh }),
      ...(options.timeout === undefined ? {} : { callMs: options.timeout }),
      version: command.parent?.version() ?? "unknown",
      input: process.stdin,
      output: process.stdout,
      signal: interrupt.signal,
      hintFor: (error) => problemOf(error).hint,
      notify: (message) => output.say(oneLine(message, 1000)),
    });
  } finally {
    interrupt.stop();
  }
}

/** `name=URL` or a URL. An address may have an equals sign too, but never before its scheme. */
function readSource(text: string): AgentSource {
  const named = /^([^=:/?#]*)=(.*)$/s.exec(text);
  if (named === null) return { url: checkedAddress(text) };
  const [, name = "", url = ""] = named;
  if (!/^[A-Za-z0-9_-]{1,48}$/.test(name))
    throw usageError(
      `${JSON.stringify(name)} cannot be the name of a tool`,
      "It has letters, digits, dashes and underscores, at most 48.",
    );
  return { name, url: checkedAddress(url) };
}

/** Chosen names are not changed, so they must be unique. */
function checkNames(agents: readonly AgentSource[]): void {
  const names = agents.flatMap(({ name }) => (name === undefined ? [] : [name.toLowerCase()]));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usageError(`two agents are called ${twice}`, "Give each a name of its own.");
}

/** Credentials for one host are not sent to another, unless --same-credentials is given. */
function checkOrigins(urls: readonly string[], credentials: Credentials, { sameCredentials }: McpCommandOptions): void {
  const { headers = {}, bearer, apiKey, oauth2, tls } = credentials;
  const secret = bearer ?? apiKey ?? oauth2 ?? tls?.key ?? Object.keys(headers)[0];
  const origins = new Set(urls.map((url) => new URL(url).origin));
  if (secret === undefined || origins.size < 2 || sameCredentials === true) return;
  throw usageError(
    `the same credentials would be shown to ${origins.size} hosts: ${[...origins].join(", ")}`,
    "Let the assistant start one koine mcp for each, or say --same-credentials.",
  );
}
