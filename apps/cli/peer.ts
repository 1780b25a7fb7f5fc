import { stat } from "node:fs/promises";
import { AgentError, type ConnectOptions, connect, type Loss, type RemoteAgent, type Store } from "../../src/index.js";
import { type LossSink, NoProtocolError, parseDid } from "../../src/internal.js";
import { openIdentity } from "../../src/public/identity.js";
import { createTelemetry } from "../../src/public/telemetry.js";
import { type TrustOptions, trustOf } from "./card-key.js";
import { type CredentialOptions, credentialsOf, type IdentityCredentialOptions, identityCredentials } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import type { LearnOptions } from "./learning.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine, shellWord } from "./printable.js";
import { checkedSettings, type SettingPairs } from "./protocol-settings.js";
import { openRecordStore } from "./task-store.js";
import { startTracing, type TraceOptions } from "./tracing.js";

/** Credentials, trust and the interface to use. */
export interface ConnectionOptions extends CredentialOptions, IdentityCredentialOptions, TrustOptions {
  readonly protocol?: string;
  /** The identity file. */
  readonly identity?: string;
  /** Settings of protocols. */
  readonly set?: SettingPairs;
}

/** The options of every command that calls an agent. */
export interface PeerOptions extends ConnectionOptions, LearnOptions, TraceOptions {
  readonly output: Format;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly verbose?: boolean;
  /** A folder, or `redis://…`. */
  readonly store?: string;
}

const DISCOVER_MS = 10_000;

/** A connected peer for the duration of a command. */
export interface PeerSession {
  readonly peer: RemoteAgent;
  readonly interrupt: Interrupt;
  readonly output: Output;
  /** Options that connect a further command in the same way; begins with a space, or is empty. */
  readonly connectFlags: string;
}

/** Connects, runs, and always closes. */
export async function withPeer<T>(url: string, options: PeerOptions, run: (withPeer: PeerSession) => Promise<T>): Promise<T> {
  const address = checkedPeer(url);
  const output = createOutput(options.output);
  const { timeout } = options;
  const tracing = await startTracing(options, { notify: (line) => output.say(line) });
  const connecting = await connectOptionsOf(options);
  const choice = await choiceOf(address, options, output);
  const connectOptions = {
    ...connecting,
    ...choice?.options,
    onLoss: lossReporter(output),
    discoverMs: Math.min(timeout ?? DISCOVER_MS, DISCOVER_MS),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(tracing && { telemetry: createTelemetry({ tracing: true }) }),
  };
  const interrupt = listenForInterrupt();
  const store = await openPeerStore(options.store);
  let peer: RemoteAgent | undefined;
  try {
    peer = await interrupt.race(connectTo(address, { ...connectOptions, ...(store && { records: store.records }) }));
    if (options.verbose === true) printEvidence(peer, output);
    const done = await run({ peer, interrupt, output, connectFlags: connectFlagsOf(options) });
    if (options.verbose === true && !peer.verified)
      output.say(output.colors.dim(`${interfaceOf(peer)}, verified by this answer`));
    return done;
  } catch (thrown) {
    throw Object.keys(connectOptions.credentials ?? {}).length > 0 || connectOptions.identity !== undefined
      ? asRejected(thrown)
      : thrown;
  } finally {
    interrupt.stop();
    // The default signal handler is restored first, so that a second interrupt can end a hanging close.
    if (interrupt.signal.aborted) void peer?.close();
    else {
      await peer?.close();
      await Promise.all([choice?.close(), store?.close?.(), tracing?.close()]);
    }
  }
}

/** Loaded only where protocols are chosen: every other call goes without. */
async function choiceOf(address: string, options: LearnOptions, output: Output) {
  const { learn, feasible, context } = options;
  if (learn === undefined && feasible === undefined && context === undefined) return undefined;
  const { openChoice } = await import("./learning.js");
  return openChoice(address, options, (problem) => output.say(oneLine(problem, 500)));
}

/** Credentials were sent: without this the error reads as if there were none. */
function asRejected(thrown: unknown): unknown {
  if (!(thrown instanceof AgentError) || thrown.code !== "unauthenticated" || thrown.facts.sent === "no") return thrown;
  const { message, facts } = thrown;
  const detail = { ...facts.detail, credentials: "rejected" };
  return new AgentError(thrown.code, `the agent rejected the credentials: ${message}`, { ...facts, detail, cause: thrown });
}

/** Options that name files, addresses and variables. Secrets are never options, so none is among them. */
function connectFlagsOf(options: PeerOptions): string {
  const { protocol, identity, store, tokenEnv, apiKeyEnv, clientId, clientSecretEnv, tokenUrl, ca, crl, cert, key } = options;
  const given = {
    protocol,
    identity,
    store,
    "token-env": tokenEnv,
    "api-key-env": apiKeyEnv,
    "client-id": clientId,
    "client-secret-env": clientSecretEnv,
    "token-url": tokenUrl,
    ca,
    crl,
    cert,
    key,
  };
  const settings = Array.from(options.set ?? [], ([name, value]) => ["set", `${name}=${value}`] as const);
  return [...Object.entries(given), ...settings]
    .flatMap(([name, value]) => (value === undefined ? [] : ` --${name} ${shellWord(value)}`))
    .join("");
}

/** A misspelled folder is an error, not a new store. */
export async function openPeerStore(where: string | undefined): Promise<Store | undefined> {
  if (where === undefined) return undefined;
  if (/^rediss?:/.test(where)) return openRecordStore({ store: where }, "what protocols remember");
  const found = await stat(where).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw usageError(`there is no folder ${where}`, "It is the one that `koine serve --data` uses.");
  return openRecordStore({ data: where }, "what protocols remember");
}

async function connectTo(address: string, options: ConnectOptions): Promise<RemoteAgent> {
  try {
    return await connect(address, options);
  } catch (thrown) {
    if (!(thrown instanceof NoProtocolError)) throw thrown;
    // A TLS port answers a plain-text request with an error that no protocol recognizes.
    const tls = address.startsWith("http:") ? " If it is served under TLS, write https://" : "";
    const hint =
      options.pin === undefined ? `Is the path right?${tls}` : `Without --protocol any protocol it speaks is accepted.${tls}`;
    throw new CliError(EXIT.failure, thrown.message, { code: thrown.code, hint });
  }
}

/** The credentials of the options and the environment. */
export async function peerCredentials(options: CredentialOptions & IdentityCredentialOptions) {
  return { ...credentialsOf(options), ...(await identityCredentials(options)) };
}

/** The options for `connect()`. */
export async function connectOptionsOf(options: ConnectionOptions) {
  const { protocol } = options;
  const trust = await trustOf(options);
  const identity = options.identity === undefined ? undefined : await openIdentity(options.identity);
  return {
    as: "koine",
    credentials: await peerCredentials(options),
    ...(protocol === undefined ? {} : { pin: protocol }),
    ...(trust === undefined ? {} : { trust }),
    ...(identity === undefined ? {} : { identity }),
    ...(options.set === undefined ? {} : { settings: checkedSettings(options.set) }),
  } satisfies ConnectOptions;
}

/** A DID, or the address of an agent. */
export function checkedPeer(url: string): string {
  return parseDid(url) === undefined ? checkedAddress(url) : url;
}

/** Rejects `localhost:8080`, which parses as a URL of the scheme `localhost`. */
export function checkedAddress(url: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url))
    throw usageError(`${JSON.stringify(url)} is not a URL`, `Did you mean http://${url.replace(/^\/+/, "")}?`);
  if (!URL.canParse(url)) throw usageError(`${JSON.stringify(url)} is not a URL`, "It looks like http://host:port");
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:")
    throw usageError(`agents are reached by http and https, not by ${protocol}`, "It looks like http://host:port");
  if (username !== "" || password !== "")
    throw usageError("credentials are not allowed in a URL", "Set KOINE_TOKEN, or use --header");
  return url;
}

function interfaceOf({ protocol, version, binding }: RemoteAgent): string {
  return `${protocol}@${version} ${binding}`;
}

function printEvidence(peer: RemoteAgent, output: Output): void {
  const { colors } = output;
  const proof = peer.verified ? "verified by a live answer" : "not verified yet";
  output.say(colors.dim(`${interfaceOf(peer)}, ${proof}`));
  for (const sentence of peer.evidence) output.say(colors.dim(`  ${oneLine(sentence, 500)}`));
}

/** Limit of reported losses: a long stream may lose something with every event. */
const MAX_REPORTED = 20;

/** Reports each loss once on stderr; as JSON with `-o json`. */
export function lossReporter(output: Output): LossSink {
  const reported = new Set<string>();
  return ({ protocol, path, valueKind, reason }: Loss) => {
    const key = `${path} ${reason}`;
    if (reported.has(key) || reported.size >= MAX_REPORTED) return;
    reported.add(key);
    if (output.format === "json") output.say(JSON.stringify({ loss: { protocol, path, kind: valueKind, reason } }));
    else output.say(output.colors.dim(`lost: ${oneLine(path, 200)} (${oneLine(reason, 300)})`));
  };
}
