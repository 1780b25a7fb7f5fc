import { type CardPolicy, connect, type JsonObject, type RemoteAgent, type Requirement } from "../../src/index.js";
import { nameFrom } from "../../src/internal.js";
import { openIdentity } from "../../src/public/identity.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { listenerInterfaces } from "../config/index.js";
import { configFrom, type GatewayConfig } from "../gateway/index.js";
import type { AdminCommandOptions } from "./admin.js";
import { checkedDid } from "./admission.js";
import { type CredentialOptions, credentialsOf, type IdentityCredentialOptions } from "./credentials.js";
import { usageError } from "./exit.js";
import { endGateway, explained, sayStarted, startGateway } from "./gateway.js";
import { type LogOptions, logSettings } from "./gateway-overrides.js";
import { untilStopped } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { checkedAddress, peerCredentials } from "./peer.js";
import { oneLine } from "./printable.js";
import { checkedSettings, type SettingPairs } from "./protocol-settings.js";
import { type TraceOptions, tracingRequest } from "./tracing.js";
import { type ProxyOptions, proxiesOf } from "./trusted-proxies.js";

interface BridgeCommandOptions
  extends CredentialOptions,
    IdentityCredentialOptions,
    ProxyOptions,
    AdminCommandOptions,
    LogOptions,
    TraceOptions {
  readonly output: Format;
  readonly as?: readonly string[];
  /** False for `--no-grpc`. */
  readonly grpc: boolean;
  readonly set?: SettingPairs;
  readonly name?: string;
  readonly mode?: "adopt" | "relay";
  readonly strict?: boolean;
  readonly card?: CardPolicy;
  readonly pin?: string;
  readonly port: number;
  readonly host: string;
  readonly publicUrl?: string;
  readonly tokenFile?: string;
  readonly allowDid?: readonly string[];
  /** Signs requests to the agent. */
  readonly identity?: string;
  /** Published by the listener. */
  readonly listenerIdentity?: string;
  readonly openToEverybody?: boolean;
  readonly data?: string;
  readonly durable?: "process" | "power";
  readonly store?: string;
  readonly secretFile?: string;
  readonly cardKey?: readonly string[];
  /** Milliseconds. */
  readonly timeout?: number;
  readonly losses?: boolean;
  readonly require?: readonly Requirement[];
  /** False for `--no-page`. */
  readonly page: boolean;
}

/** A reference to a variable: the URL of a Redis may hold a password. */
const FROM_STORE = `\${KOINE_STORE}`;

/** `koine bridge`: a gateway with one upstream, configured by flags, until Ctrl-C. */
export async function runBridge(url: string, options: BridgeCommandOptions): Promise<void> {
  const output = createOutput(options.output);
  const address = checkedAddress(url);
  const remote = await connectOnce(address, options);
  try {
    const config = await explained(async () => configOf(address, options, remote));
    if (options.losses === true) return await printLosses(config, remote, output);
    await remote.close();
    const gateway = await startGateway(config, output, true);
    await sayStarted(gateway, output, true);
    await untilStopped(output);
    await endGateway(gateway, output);
  } finally {
    await remote.close();
  }
}

/** Connects once before the gateway starts, so that a wrong address or credential is reported as by every other command. */
async function connectOnce(address: string, options: BridgeCommandOptions): Promise<RemoteAgent> {
  const credentials = await peerCredentials(options);
  const identity = options.identity === undefined ? undefined : await openIdentity(options.identity);
  return connect(address, {
    as: "koine",
    credentials,
    ...(options.pin === undefined ? {} : { pin: options.pin }),
    ...(identity === undefined ? {} : { identity }),
  });
}

async function printLosses(config: GatewayConfig, remote: RemoteAgent, output: Output): Promise<void> {
  const listeners = listenerInterfaces(config.document.as, config.document.grpc);
  if (output.format === "json") await output.document(lossTableJson(listeners, remote));
  else await output.text(lossTable(listeners, remote));
}

/** The gateway configuration equivalent to the flags. Secrets stay in variables and files. */
function configOf(url: string, options: BridgeCommandOptions, { card }: RemoteAgent): GatewayConfig {
  const { data, store, durable, secretFile, cardKey, pin, mode, strict, timeout, as } = options;
  if (data !== undefined && store !== undefined)
    throw usageError("--data and --store both say where tasks can be kept", "Give one of them.");
  if (durable !== undefined && data === undefined)
    throw usageError("--durable is about the files of --data", "Give --data DIR too.");
  const { credentials, env } = credentialReferences(options);
  const document = {
    listen: {
      port: options.port,
      host: options.host,
      publicUrl: options.publicUrl,
      openToEverybody: options.openToEverybody,
      trustedProxies: proxiesOf(options),
    },
    as,
    grpc: options.grpc ? undefined : false,
    settings: options.set === undefined ? undefined : checkedSettings(options.set),
    store: data !== undefined ? { sqlite: data, durable } : store !== undefined ? { redis: FROM_STORE } : undefined,
    secret: secretFile === undefined ? undefined : { file: secretFile },
    auth: authOf(options),
    identity: options.listenerIdentity,
    cardKeys: cardKey,
    page: options.page,
    tracing: tracingRequest(options),
    ...logSettings(options),
    admin: {
      port: options.adminPort,
      host: options.adminHost,
      clearText: options.adminClearText,
      token: options.adminTokenFile === undefined ? fromEnvironment("KOINE_ADMIN_TOKEN") : { file: options.adminTokenFile },
    },
    agents: [
      {
        name: options.name ?? nameFrom(card.name),
        upstream: url,
        pin,
        mode,
        strict,
        require: options.require,
        card: options.card,
        timeoutMs: timeout,
        credentials,
        identity: options.identity,
      },
    ],
  };
  const variables = { ...process.env, ...env, ...(store === undefined ? {} : { KOINE_STORE: store }) };
  return configFrom(document, { folder: process.cwd(), env: variables });
}

function authOf({ tokenFile, allowDid }: BridgeCommandOptions): GatewayConfig["document"]["auth"] {
  if (tokenFile === undefined && allowDid === undefined) return undefined;
  return { tokens: tokenFile === undefined ? undefined : { file: tokenFile }, dids: allowDid?.map(checkedDid) };
}

function fromEnvironment(name: string): { readonly env: string } | undefined {
  return process.env[name] ? { env: name } : undefined;
}

/** A configuration refers to secrets by name, so headers of the command line become variables. */
function credentialReferences(options: BridgeCommandOptions) {
  const { headers = {}, bearer } = credentialsOf(options);
  const env: { [name: string]: string } = {};
  const placed = Object.entries(headers).map(([name, value], index) => {
    env[`KOINE_HEADER_${index}`] = value;
    return [name, { env: `KOINE_HEADER_${index}` }];
  });
  const { clientId, clientSecretEnv, tokenUrl, scope, apiKeyEnv, tokenEnv, ca, crl, cert, key } = options;
  const apiKey = apiKeyEnv ?? (process.env["KOINE_API_KEY"] ? "KOINE_API_KEY" : undefined);
  const credentials = {
    headers: Object.fromEntries(placed),
    bearer: bearer === undefined ? undefined : { env: tokenEnv ?? "KOINE_TOKEN" },
    apiKey: apiKey === undefined ? undefined : { env: apiKey },
    oauth2:
      clientId === undefined
        ? undefined
        : { clientId, clientSecret: { env: clientSecretEnv ?? "KOINE_CLIENT_SECRET" }, tokenUrl, scopes: scope },
    tls: [ca, crl, cert].every((each) => each === undefined) ? undefined : { ca, crl, cert, key },
  };
  return { credentials, env };
}

type Side = "upstream" | "listener";

interface DeclaredLoss {
  readonly side: Side;
  /** `protocol@version`. */
  readonly interface: string;
  readonly path: string;
  readonly reason: string;
}

/** What each protocol of a bridge declares not to carry. Between two of the same version everything is carried. */
function declaredLosses(listeners: readonly Protocol[], { protocol, version }: RemoteAgent): readonly DeclaredLoss[] {
  const lossesOf = (side: Side, { id, losses }: Protocol, versions: readonly string[]): readonly DeclaredLoss[] =>
    losses
      .filter((loss) => versions.includes(loss.version))
      .map((loss) => ({ side, interface: `${id}@${loss.version}`, path: loss.path, reason: loss.reason }));
  return [
    ...protocols.filter(({ id }) => id === protocol).flatMap((each) => lossesOf("upstream", each, [version])),
    ...listeners.flatMap((each) => lossesOf("listener", each, each.versions)),
  ];
}

function lossTable(listeners: readonly Protocol[], remote: RemoteAgent): string {
  const losses = declaredLosses(listeners, remote);
  const head = `${remote.url} speaks ${remote.protocol}@${remote.version} ${remote.binding}. Declared losses of each protocol:\n`;
  if (losses.length === 0) return `${head}none.\n`;
  const width = Math.max(...losses.map(({ path }) => path.length));
  const lines = losses.map(
    (loss) => `${loss.side}  ${loss.interface.padEnd(9)}  ${loss.path.padEnd(width)}  ${oneLine(loss.reason, 300)}`,
  );
  return `${[head, ...lines].join("\n")}\n`;
}

/** The names of the sides in `-o json`. */
const JSON_SIDES = { upstream: "behind", listener: "in front" } as const;

function lossTableJson(listeners: readonly Protocol[], remote: RemoteAgent): JsonObject {
  const { url, protocol, version, binding } = remote;
  const losses = declaredLosses(listeners, remote).map((loss) => ({
    side: JSON_SIDES[loss.side],
    way: loss.interface,
    path: loss.path,
    reason: loss.reason,
  }));
  return { kind: "declared-losses", url, protocol, version, binding, losses };
}
