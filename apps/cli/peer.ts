import { AgentError, type ConnectOptions, connect, type Loss, type RemoteAgent } from "../../src/index.js";
import type { LossSink } from "../../src/internal.js";
import { type TrustOptions, trustOf } from "./card-key.js";
import { type CredentialOptions, credentialsOf, type IdentityCredentialOptions, identityCredentials } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine, shellWord } from "./printable.js";

/** Who we are, whom we trust, and by which way. */
export interface ReachOptions extends CredentialOptions, IdentityCredentialOptions, TrustOptions {
  readonly protocol?: string;
}

/** The options of every command that calls somebody. */
export interface PeerOptions extends ReachOptions {
  readonly output: Format;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly verbose?: boolean;
}

const DISCOVER_MS = 10_000;

/** A connected peer for as long as the command runs. */
export interface Visit {
  readonly peer: RemoteAgent;
  readonly interrupt: Interrupt;
  readonly output: Output;
  /** What a further command has to be told to reach the agent the same way; begins with a space, or is empty. */
  readonly manner: string;
}

/** Connects, runs, and closes, whatever happens. */
export async function visit<T>(url: string, options: PeerOptions, run: (visit: Visit) => Promise<T>): Promise<T> {
  const address = checkedAddress(url);
  const output = createOutput(options.output);
  const { timeout } = options;
  const connectOptions = {
    ...(await connectOptionsOf(options)),
    onLoss: lossReporter(output),
    discoverMs: Math.min(timeout ?? DISCOVER_MS, DISCOVER_MS),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
  const interrupt = listenForInterrupt();
  let peer: RemoteAgent | undefined;
  try {
    peer = await interrupt.race(reach(address, connectOptions));
    if (options.verbose === true) sayEvidence(peer, output);
    return await run({ peer, interrupt, output, manner: mannerOf(options) });
  } finally {
    interrupt.stop();
    // A second interrupt must be able to end a close that hangs, so the default reaction is back by now.
    if (interrupt.signal.aborted) void peer?.close();
    else await peer?.close();
  }
}

/** The options that name files, places and variables. No secret is among them, because none is ever an option. */
function mannerOf(options: PeerOptions): string {
  const { protocol, tokenEnv, apiKeyEnv, clientId, clientSecretEnv, tokenUrl, ca, cert, key } = options;
  const given = {
    protocol,
    "token-env": tokenEnv,
    "api-key-env": apiKeyEnv,
    "client-id": clientId,
    "client-secret-env": clientSecretEnv,
    "token-url": tokenUrl,
    ca,
    cert,
    key,
  };
  return Object.entries(given)
    .flatMap(([name, value]) => (value === undefined ? [] : ` --${name} ${shellWord(value)}`))
    .join("");
}

async function reach(address: string, options: ConnectOptions): Promise<RemoteAgent> {
  try {
    return await connect(address, options);
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || !thrown.message.startsWith("something answers")) throw thrown;
    // A port that speaks TLS answers to clear text with an error of its own, which is no protocol.
    const tls = address.startsWith("http:") ? " If it is served under TLS, write https://" : "";
    const hint = options.pin === undefined ? `Is the path right?${tls}` : `Without --protocol whatever it speaks is taken.${tls}`;
    throw new CliError(EXIT.failure, thrown.message, { code: thrown.code, hint });
  }
}

/** Everything the options and the environment say about who we are. */
export async function shownCredentials(options: CredentialOptions & IdentityCredentialOptions) {
  return { ...credentialsOf(options), ...(await identityCredentials(options)) };
}

/** How somebody is connected to who was given these options. */
export async function connectOptionsOf(options: ReachOptions) {
  const { protocol } = options;
  const trust = await trustOf(options);
  return {
    as: "koine",
    credentials: await shownCredentials(options),
    ...(protocol === undefined ? {} : { pin: protocol }),
    ...(trust === undefined ? {} : { trust }),
  } satisfies ConnectOptions;
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
  const proof = peer.verified ? "proved by a live answer" : "not proved yet";
  output.say(colors.dim(`${peer.protocol}@${peer.version} ${peer.binding}, ${proof}`));
  for (const sentence of peer.evidence) output.say(colors.dim(`  ${oneLine(sentence, 500)}`));
}

/** A long stream may lose the same kind of thing at every event; nobody reads more lines than these. */
const TOLD_AT_MOST = 20;

/** Says what the protocol could not carry, each thing once: with `-o json` as JSON, because then stderr is read by programs. */
export function lossReporter(output: Output): LossSink {
  const told = new Set<string>();
  return ({ protocol, path, valueKind, reason }: Loss) => {
    const key = `${path} ${reason}`;
    if (told.has(key) || told.size >= TOLD_AT_MOST) return;
    told.add(key);
    if (output.format === "json") output.say(JSON.stringify({ loss: { protocol, path, kind: valueKind, reason } }));
    else output.say(output.colors.dim(`lost on the way: ${oneLine(path, 200)} (${oneLine(reason, 300)})`));
  };
}
