import { type CardPolicy, connect, type JsonObject, type RemoteAgent } from "../../src/index.js";
import { nameFrom } from "../../src/internal.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { configFrom, type GatewayConfig, listenerInterfaces } from "../gateway/index.js";
import { type CredentialOptions, credentialsOf, type IdentityCredentialOptions } from "./credentials.js";
import { usageError } from "./exit.js";
import { endGateway, explained, sayStarted, startGateway } from "./gateway.js";
import { untilStopped } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { checkedAddress, shownCredentials } from "./peer.js";
import { oneLine } from "./printable.js";

interface BridgeCommandOptions extends CredentialOptions, IdentityCredentialOptions {
  readonly output: Format;
  readonly as?: readonly string[];
  readonly name?: string;
  readonly mode?: "adopt" | "relay";
  readonly strict?: boolean;
  readonly card?: CardPolicy;
  readonly pin?: string;
  readonly port: number;
  readonly host: string;
  readonly publicUrl?: string;
  readonly tokenFile?: string;
  readonly openToEverybody?: boolean;
  readonly data?: string;
  readonly durable?: "process" | "power";
  readonly store?: string;
  readonly secretFile?: string;
  readonly cardKey?: readonly string[];
  /** Milliseconds. */
  readonly timeout?: number;
  readonly losses?: boolean;
  /** False for `--no-page`. */
  readonly page: boolean;
}

/** Names the variable below: the address of a Redis may hold a password. */
const FROM_STORE = `\${KOINE_STORE}`;

/** One agent behind a gateway made from flags, until Ctrl-C. */
export async function runBridge(url: string, options: BridgeCommandOptions): Promise<void> {
  const output = createOutput(options.output);
  const address = checkedAddress(url);
  const remote = await reached(address, options);
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

/** Looked at once by itself: what is wrong with the address or the credentials is then said as for every other command. */
async function reached(address: string, options: BridgeCommandOptions): Promise<RemoteAgent> {
  const credentials = await shownCredentials(options);
  return connect(address, { as: "koine", credentials, ...(options.pin === undefined ? {} : { pin: options.pin }) });
}

async function printLosses(config: GatewayConfig, remote: RemoteAgent, output: Output): Promise<void> {
  const inFront = listenerInterfaces(config.document.as);
  if (output.format === "json") await output.document(lossTableJson(inFront, remote));
  else await output.text(lossTable(inFront, remote));
}

/** The configuration that says the same as the flags. Secrets stay where they are: in variables and files. */
function configOf(url: string, options: BridgeCommandOptions, { card }: RemoteAgent): GatewayConfig {
  const { data, store, durable, secretFile, tokenFile, cardKey, pin, mode, strict, timeout, as } = options;
  if (data !== undefined && store !== undefined)
    throw usageError("--data and --store both say where tasks can be kept", "Give one of them.");
  if (durable !== undefined && data === undefined)
    throw usageError("--durable is about the files of --data", "Give --data DIR too.");
  const { credentials, env } = credentialPlaces(options);
  const document = {
    listen: {
      port: options.port,
      host: options.host,
      publicUrl: options.publicUrl,
      openToEverybody: options.openToEverybody,
    },
    as,
    store: data !== undefined ? { sqlite: data, durable } : store !== undefined ? { redis: FROM_STORE } : undefined,
    secret: secretFile === undefined ? undefined : { file: secretFile },
    auth: tokenFile === undefined ? undefined : { tokens: { file: tokenFile } },
    cardKeys: cardKey,
    page: options.page,
    agents: [
      {
        name: options.name ?? nameFrom(card.name),
        upstream: url,
        pin,
        mode,
        strict,
        card: options.card,
        timeoutMs: timeout,
        credentials,
      },
    ],
  };
  const variables = { ...process.env, ...env, ...(store === undefined ? {} : { KOINE_STORE: store }) };
  return configFrom(document, { folder: process.cwd(), env: variables });
}

/** Headers are given on the command line; in a configuration they would be named, so they get names here. */
function credentialPlaces(options: BridgeCommandOptions) {
  const { headers = {}, bearer } = credentialsOf(options);
  const env: { [name: string]: string } = {};
  const placed = Object.entries(headers).map(([name, value], index) => {
    env[`KOINE_HEADER_${index}`] = value;
    return [name, { env: `KOINE_HEADER_${index}` }];
  });
  const { clientId, clientSecretEnv, tokenUrl, scope, apiKeyEnv, tokenEnv, ca, cert, key } = options;
  const apiKey = apiKeyEnv ?? (process.env["KOINE_API_KEY"] ? "KOINE_API_KEY" : undefined);
  const credentials = {
    headers: Object.fromEntries(placed),
    bearer: bearer === undefined ? undefined : { env: tokenEnv ?? "KOINE_TOKEN" },
    apiKey: apiKey === undefined ? undefined : { env: apiKey },
    oauth2:
      clientId === undefined
        ? undefined
        : { clientId, clientSecret: { env: clientSecretEnv ?? "KOINE_CLIENT_SECRET" }, tokenUrl, scopes: scope },
    tls: ca === undefined && cert === undefined ? undefined : { ca, cert, key },
  };
  return { credentials, env };
}

interface DeclaredRow {
  /** `in front` or `behind`. */
  readonly side: string;
  readonly way: string;
  readonly path: string;
  readonly reason: string;
}

/** What each wire of a bridge declares not to carry. Between two of the same version everything is carried. */
function declaredRows(inFront: readonly Protocol[], { protocol, version }: RemoteAgent): readonly DeclaredRow[] {
  const rowsOf = (side: string, spoken: Protocol, versions: readonly string[]): readonly DeclaredRow[] =>
    spoken.losses
      .filter((loss) => versions.includes(loss.version))
      .map((loss) => ({ side, way: `${spoken.id}@${loss.version}`, path: loss.path, reason: loss.reason }));
  const behind = protocols.filter(({ id }) => id === protocol);
  return [
    ...behind.flatMap((each) => rowsOf("behind", each, [version])),
    ...inFront.flatMap((each) => rowsOf("in front", each, each.versions)),
  ];
}

/** For people. */
function lossTable(inFront: readonly Protocol[], remote: RemoteAgent): string {
  const rows = declaredRows(inFront, remote);
  const head = `${remote.url} speaks ${remote.protocol}@${remote.version} ${remote.binding}. Each wire declares what it cannot carry:\n`;
  if (rows.length === 0) return `${head}nothing is declared to be lost.\n`;
  const width = Math.max(...rows.map(({ path }) => path.length));
  const lines = rows.map(
    ({ side, way, path, reason }) => `${side.padEnd(8)}  ${way.padEnd(9)}  ${path.padEnd(width)}  ${oneLine(reason, 300)}`,
  );
  return `${[head, ...lines].join("\n")}\n`;
}

function lossTableJson(inFront: readonly Protocol[], remote: RemoteAgent): JsonObject {
  const { url, protocol, version, binding } = remote;
  return {
    kind: "declared-losses",
    url,
    protocol,
    version,
    binding,
    losses: declaredRows(inFront, remote).map((row) => ({ ...row })),
  };
}
