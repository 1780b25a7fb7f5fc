import type { Report, RunOptions, Subject } from "../../conformance/index.js";
import { AgentError, type ConnectOptions, type Credentials, connect } from "../../src/index.js";
import { credentialHeaders, identitySigner, parseDid } from "../../src/internal.js";
import { openIdentity } from "../../src/public/identity.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { type CredentialOptions, credentialsOf, type IdentityCredentialOptions, identityCredentials } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { createOutput, type Format, type Output } from "./output.js";
import { checkedAddress, openPeerStore } from "./peer.js";
import { printable } from "./printable.js";
import { startProgress } from "./progress.js";
import { checkedSettings, type SettingPairs } from "./protocol-settings.js";

interface ConformOptions extends CredentialOptions, IdentityCredentialOptions {
  readonly output: Format;
  readonly only?: readonly string[];
  readonly protocol?: string;
  /** Milliseconds, for one requirement. */
  readonly timeout?: number;
  /** Where the gateway is. */
  readonly through?: string;
  readonly load?: boolean;
  readonly throughTokenEnv?: string;
  /** Settings of protocols. */
  readonly set?: SettingPairs;
  /** The identity file: signs what needs an identity. */
  readonly identity?: string;
  /** Where protocols keep things, such as a registry. */
  readonly store?: string;
}

export async function conform(url: string, options: ConformOptions): Promise<void> {
  const store = await openPeerStore(options.store);
  try {
    await conformWith(url, options, {
      credentials: await checkCredentials(options),
      ...(options.identity === undefined ? {} : { identity: await openIdentity(options.identity) }),
      ...(options.set === undefined ? {} : { settings: checkedSettings(options.set) }),
      ...(store === undefined ? {} : { records: store.records }),
    });
  } finally {
    await store?.close?.();
  }
}

/** As whom, and with what, the endpoint is called. */
type CallerOptions = Pick<ConnectOptions, "identity" | "settings" | "records"> & { readonly credentials: Credentials };

async function conformWith(url: string, options: ConformOptions, caller: CallerOptions): Promise<void> {
  const { credentials } = caller;
  const { address, protocol } = await calledAt(url, options.protocol, caller);
  const output = createOutput(options.output);
  if (options.through !== undefined && caller.identity !== undefined)
    throw usageError("--through takes no --identity", "A gateway is compared in what it answers to everybody.");
  if (options.through !== undefined)
    return conformThrough({ ...options, upstream: address, credentials, gateway: options.through }, output);
  if (options.throughTokenEnv !== undefined) throw usageError("--through-token-env needs --through", "Give --through <gateway>.");
  if (options.load === true) return measureLoad(url, options, caller, output);
  const chosen = await protocolsAt(address, protocol, caller);
  // Loaded on demand: hundreds of requirements.
  const { formatDetails, formatGrid, runConformance, toGrid } = await import("../../conformance/index.js");
  const progress = startProgress({ stream: output.stderr });
  const subject = await subjectAt(address, caller, url);
  let report: Report;
  try {
    report = await runConformance(
      subject,
      chosen,
      runOptionsOf(options, (done, total, id) => progress.show(`${done} of ${total}`, id)),
    );
  } finally {
    progress.stop();
  }
  if (report.verdicts.length === 0) throw usageError("no requirement has such an id", "Run it without --only to see the ids.");
  if (output.format === "json") await output.document({ ...report, grid: toGrid(report) });
  else await output.text(`${formatGrid(toGrid(report))}\n\n${printable(formatDetails(report))}\n`);
  if (!report.conforms)
    throw new CliError(EXIT.failure, "the endpoint does not conform: something that must hold does not", {
      code: "not_conforming",
    });
}

interface Called {
  readonly address: string;
  /** The one protocol to check. Undefined: those that are found. */
  readonly protocol: string | undefined;
}

/** Where the agent is. One that is called by its DID, as an identity, is checked in the protocol that proves both. */
async function calledAt(url: string, protocol: string | undefined, caller: CallerOptions): Promise<Called> {
  if (parseDid(url) === undefined) return { address: checkedAddress(url), protocol };
  const peer = await connect(url, { ...caller, as: "koine" });
  await peer.close();
  return { address: peer.url, protocol: protocol ?? (caller.identity && peer.protocol) };
}

/** Only measures: how fast an agent has to be is no requirement. */
async function measureLoad(url: string, options: ConformOptions, caller: CallerOptions, output: Output): Promise<void> {
  const { runLoad } = await import("../../conformance/index.js");
  const pin = options.protocol === undefined ? {} : { pin: options.protocol };
  const peer = await connect(url, { ...caller, ...pin });
  try {
    const report = await runLoad(peer, "ping", () => performance.now());
    if (output.format === "json") return await output.document({ load: { ...report } });
    const { protocol, messages, concurrency, failed, p50Ms, p95Ms, p99Ms, jitter } = report;
    const times = `P50 ${p50Ms.toFixed(2)} ms  P95 ${p95Ms.toFixed(2)} ms  P99 ${p99Ms.toFixed(2)} ms  jitter ${jitter.toFixed(3)}`;
    await output.text(`${protocol}: ${messages} messages, ${concurrency} at a time, ${failed} failed\n${times}\n`);
  } finally {
    await peer.close();
  }
}

function runOptionsOf(
  { only, timeout }: ConformOptions,
  onProgress: (done: number, total: number, id: string) => void,
): RunOptions {
  return { only, timeoutMs: timeout, onProgress: ({ id }, done, total) => onProgress(done, total, id) };
}

/** The checks write every request themselves, so credentials that need the card or a token endpoint are not supported. */
async function checkCredentials(options: CredentialOptions & IdentityCredentialOptions): Promise<Credentials> {
  if (options.apiKeyEnv !== undefined || options.clientId !== undefined)
    throw usageError(
      "conformance checks support only a token, headers or a certificate",
      "Give --token-env, --header, or --cert and --key.",
    );
  const { tls } = await identityCredentials(options);
  return { ...credentialsOf(options), ...(tls === undefined ? {} : { tls }) };
}

/** The endpoint to check. */
async function subjectAt(address: string, { identity, ...options }: CallerOptions, url = address): Promise<Subject> {
  const { identifiedCaller, secureExchange, sessionOpener } = await import("../../conformance/index.js");
  const { credentials } = options;
  const headers = credentialHeaders(credentials);
  const exchange = secureExchange(credentials.tls ?? {});
  return {
    url: address.replace(/\/$/, ""),
    exchange,
    ...(identity && { signer: identitySigner(identity), caller: identifiedCaller({ url, identity, exchange, options }) }),
    openSession: sessionOpener(headers, credentials.tls),
    headers,
    newId: () => crypto.randomUUID(),
  };
}

/** The protocols to check: those found at the address, or the named one. An unreachable address is an error. */
async function protocolsAt(url: string, wanted: string | undefined, caller: CallerOptions): Promise<readonly Protocol[]> {
  const named = protocols.filter(({ id }) => id === wanted);
  if (wanted !== undefined && named.length === 0)
    throw usageError(`no protocol is called ${wanted}`, `There are: ${protocols.map(({ id }) => id).join(", ")}`);
  // Without an identity nothing can be said of protocols between identities.
  const open = protocols.filter(({ needsIdentity }) => needsIdentity !== true || caller.identity !== undefined);
  const tried = wanted === undefined ? open : named;
  const found: Protocol[] = [];
  let refusal: unknown;
  for (const protocol of tried) {
    try {
      const peer = await connect(url, { ...caller, protocols: [protocol], as: "koine" });
      found.push(protocol);
      await peer.close();
    } catch (thrown) {
      refusal = thrown;
    }
  }
  if (found.length > 0) return found;
  const silent = refusal instanceof AgentError && (refusal.code === "unavailable" || refusal.code === "deadline");
  if (named.length === 0 || silent) throw refusal;
  return named;
}

interface ThroughCommand {
  /** Where the agent itself is. */
  readonly upstream: string;
  /** Credentials for the agent; never sent to the gateway. */
  readonly credentials: Credentials;
  readonly gateway: string;
  /** The name of the environment variable with the gateway's token. */
  readonly throughTokenEnv?: string | undefined;
  readonly protocol?: string | undefined;
  readonly only?: readonly string[] | undefined;
  /** Milliseconds, for one requirement. */
  readonly timeout?: number | undefined;
}

/** `koine conform … --through`: what does the gateway break that holds without it. */
async function conformThrough(command: ThroughCommand, output: Output): Promise<void> {
  const gateway = checkedAddress(command.gateway);
  const shown = gatewayCredentials(command);
  const ends = {
    upstream: { address: command.upstream, credentials: command.credentials, wanted: undefined },
    gateway: { address: gateway, credentials: shown, wanted: command.protocol },
  };
  const [direct, listener] = await Promise.all(
    [ends.upstream, ends.gateway].map(async ({ address, credentials, wanted }) => ({
      protocols: await protocolsAt(address, wanted, { credentials }),
      subject: await subjectAt(address, { credentials }),
    })),
  );
  if (direct === undefined || listener === undefined) throw new TypeError("two ends were asked for");
  const { formatThrough, runThrough } = await import("../../conformance/index.js");
  const progress = startProgress({ stream: output.stderr });
  const report = await runThrough(direct, listener, {
    only: command.only,
    timeoutMs: command.timeout,
    onProgress: (stage, { id }, done, total) => progress.show(`${stage}: ${done} of ${total}`, id),
  }).finally(() => progress.stop());
  if (report.through.verdicts.length === 0)
    throw usageError("no requirement has such an id", "Run it without --only to see the ids.");
  if (output.format === "json") await output.document(report);
  else await output.text(`${printable(formatThrough(report))}\n`);
  if (!report.holds) throw new CliError(EXIT.failure, "the gateway breaks what holds without it", { code: "not_conforming" });
}

/** The agent's token, KOINE_TOKEN, is never sent to the gateway. */
function gatewayCredentials({ throughTokenEnv }: ThroughCommand): Credentials {
  return throughTokenEnv === undefined ? {} : credentialsOf({ tokenEnv: throughTokenEnv });
}
