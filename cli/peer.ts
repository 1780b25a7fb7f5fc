import { type Command, Option } from "commander";
import { type ConnectOptions, connect, type RemoteAgent } from "../src/index.js";
import { type CredentialOptions, credentialsOf } from "./credentials.js";
import { usageError } from "./exit.js";
import { addIdentityCredentialOptions, type IdentityCredentialOptions, identityCredentials } from "./identity-credentials.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { collect, parseSeconds } from "./option-values.js";
import { createOutput, FORMATS, type Format, type Output } from "./output.js";
import { oneLine } from "./printable.js";

/** The options of every command that calls somebody. */
export interface PeerOptions extends CredentialOptions, IdentityCredentialOptions {
  readonly output: Format;
  readonly protocol?: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly verbose?: boolean;
}

const DISCOVER_MS = 10_000;

export function outputOption(): Option {
  return new Option("-o, --output <format>", "what stdout gets").choices([...FORMATS]).default("text");
}

export function addCredentialOptions(command: Command): Command {
  return addIdentityCredentialOptions(
    command
      .option("--token-env <name>", "the environment variable with the bearer token (default: KOINE_TOKEN, if it is set)")
      .option("--header <line>", "a header for every request, 'Name: value'; may be given several times", collect),
  );
}

export function addPeerOptions(command: Command): Command {
  return addCredentialOptions(
    command
      .addOption(outputOption())
      .option("--protocol <pin>", "only this way: a protocol, protocol@version, or protocol@version/binding")
      .option("--timeout <seconds>", "how long to wait for the answer", parseSeconds)
      .option("-v, --verbose", "say how the agent was reached, and how we know"),
  );
}

/** A connected peer for as long as the command runs. */
export interface Visit {
  readonly peer: RemoteAgent;
  readonly interrupt: Interrupt;
  readonly output: Output;
}

/** Connects, runs, and closes, whatever happens. `more` is for what only some commands can be told. */
export async function visit<T>(
  url: string,
  options: PeerOptions,
  run: (visit: Visit) => Promise<T>,
  more: ConnectOptions = {},
): Promise<T> {
  const address = checkedAddress(url);
  const output = createOutput(options.output);
  const connectOptions: ConnectOptions = { ...(await connectOptionsOf(options)), ...more };
  const interrupt = listenForInterrupt();
  let peer: RemoteAgent | undefined;
  try {
    peer = await interrupt.race(connect(address, connectOptions));
    if (options.verbose === true) sayEvidence(peer, output);
    return await run({ peer, interrupt, output });
  } finally {
    interrupt.stop();
    // A second interrupt must be able to end a close that hangs, so the default reaction is back by now.
    if (interrupt.signal.aborted) void peer?.close();
    else await peer?.close();
  }
}

async function connectOptionsOf(options: PeerOptions): Promise<ConnectOptions> {
  const { protocol, timeout } = options;
  return {
    as: "koine",
    credentials: { ...credentialsOf(options), ...(await identityCredentials(options)) },
    discoverMs: Math.min(timeout ?? DISCOVER_MS, DISCOVER_MS),
    ...(protocol === undefined ? {} : { pin: protocol }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
}

/** `localhost:8080` is a URL to the parser, of a scheme called localhost; nobody means that. */
export function checkedAddress(url: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url))
    throw usageError(`${JSON.stringify(url)} is not a URL`, `Did you mean http://${url.replace(/^\/+/, "")}?`);
  if (!URL.canParse(url)) throw usageError(`${JSON.stringify(url)} is not a URL`, "It looks like http://host:port");
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:")
    throw usageError(`agents are reached by http and https, not by ${protocol}`, "It looks like http://host:port");
  if (username !== "" || password !== "")
    throw usageError("credentials do not belong into a URL", "Set KOINE_TOKEN, or use --header");
  return url;
}

function sayEvidence(peer: RemoteAgent, output: Output): void {
  const { colors } = output;
  const proof = peer.proved ? "proved by a live answer" : "not proved yet";
  output.say(colors.dim(`${peer.protocol}@${peer.version} ${peer.binding}, ${proof}`));
  for (const sentence of peer.evidence) output.say(colors.dim(`  ${oneLine(sentence, 500)}`));
}
