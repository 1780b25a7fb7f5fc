import { type Command, Option } from "commander";
import { collect, collectPairs, parseInterfaces, parsePort } from "../option-values.js";
import {
  addAdminOptions,
  addLogOptions,
  addModelOptions,
  addProxyOptions,
  addTraceOptions,
  lazyAction,
  outputOption,
  profileOption,
  requireOption,
} from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine serve ./agent.ts --try
  koine serve ./translator.ts ./writer.mjs --port 0            several agents on any free port
  koine serve ./agent.ts --host 0.0.0.0 --token-file tokens    open to the network, for holders of a token
  KOINE_TOKENS="ann=…,bob=…" koine serve ./agent.ts            the same tokens without a file
  koine serve ./agent.ts --data ./data                         tasks survive the end of this process
  koine serve ./agent.ts --store redis://127.0.0.1:6379        one of several replicas on one Redis
  koine serve ./agent.ts --tls-cert cert.pem --tls-key key.pem  every protocol under TLS; SIGHUP reloads them

The module's default export is made by agent({ … }); or it exports a function handle(message, task).
The tokens file has one name=token per line; a token has 16 characters or more.
`;

/** `koine serve`: an agent on one port, in every protocol. */
export function addServe(program: Command): void {
  const command = program
    .command("serve")
    .description("serve agents on one port, in every protocol")
    .argument("<module...>", "files that export an agent");
  addServeOptions(command).action(lazyAction(async () => (await import("../serve.js")).serveModules));
}

function addServeOptions(command: Command): Command {
  command
    .option("--port <number>", "where to listen; 0 takes any free port", parsePort, 8080)
    .option("--host <address>", "on which address", "127.0.0.1")
    .option("--public-url <url>", "the address callers use, when a proxy forwards to this one");
  addProxyOptions(command)
    .option("--name <host>", "a further host name it is reached by; may be given several times", collect)
    .option("--allow-origin <origin>", "web pages of this origin may call; may be given several times", collect)
    .option("--as <interfaces>", "the interfaces to serve: a2a@1.0,a2a@0.3/JSONRPC,acp (default: all)", parseInterfaces)
    .option("--no-grpc", "list and serve no gRPC interface, for clients that accept only http URLs on a card")
    .option("--set <protocol.key=value>", "a setting of one protocol, see below; may be given several times", collectPairs)
    .addOption(profileOption())
    .addOption(requireOption("refuse callers that do not bring this security"))
    .option("--try", "print calls one can try")
    .addOption(outputOption())
    .optionsGroup("TLS:")
    .option("--tls-cert <file>", "serve under TLS with this certificate (PEM)")
    .option("--tls-key <file>", "the private key of the certificate (PEM)")
    .option("--client-ca <file>", "callers may show certificates of this authority (PEM), and are known by them")
    .option("--client-crl <file>", "the authority's revocation list (PEM): revoked certificates are refused")
    .optionsGroup("Authentication:")
    .option("--token-file <file>", "one name=token per line (or the same in KOINE_TOKENS)")
    .option(
      "--open-to-everybody",
      "listen beyond this machine without authentication: anyone who can reach the port may use the agent",
    );
  addIdentityOptions(command)
    .optionsGroup("Storage:")
    .option("--data <dir>", "keep tasks in this folder (SQLite), and large parts beside them")
    .addOption(
      new Option(
        "--durable <what>",
        "what an acknowledged event in --data survives: the end of the process, or a power cut",
      ).choices(["process", "power"]),
    )
    .option("--store <url>", "keep tasks in this Redis, shared with other replicas: redis://…")
    .option(
      "--seal-store [file]",
      "encrypt the tasks there with the keys of this file, made at first use (default: beside --identity); on by default if a protocol of --identity asks for it",
    )
    .option("--no-seal-store", "keep the tasks there in clear")
    .option(
      "--accept-unsealed",
      "read tasks that were there before they were sealed; whoever can write the store can add such tasks",
    )
    .option(
      "--artifacts <dir>",
      "keep parts of 1 MB and more in this folder; they leave as links (default: beside --data, in the Redis of --store, or in memory)",
    )
    .optionsGroup("Cards, webhooks:")
    .option(
      "--identity <file>",
      "publish this identity: its DID is the did:web of --public-url (`koine identity create`); read again on SIGHUP",
    )
    .option("--card-key <file>", "sign the cards with this private key (PEM or JWK); may be given several times", collect)
    .option("--push-allow <host>", "webhooks may lead to this host whatever its address; may be given several times", collect)
    .option("--no-push", "offer no push notifications")
    .optionsGroup("Operator:")
    .addOption(
      new Option(
        "--metrics [where]",
        "Prometheus text at /metrics of the operator's listener, or of the callers' port for all admitted",
      )
        .choices(["admin", "admitted"])
        .preset("admin"),
    )
    .addOption(
      new Option("--metric-names <names>", "both: also OpenMetrics names, koine_request_latency_seconds").choices([
        "upper",
        "both",
      ]),
    );
  addModelOptions(addAdminOptions(addTraceOptions(addLogOptions(command))).optionsGroup(""))
    .optionsGroup("")
    .addHelpText("after", EXAMPLES);
  return command;
}

function addIdentityOptions(command: Command): Command {
  return command
    .option("--api-key-file <file>", "one name=key per line (or the same in KOINE_API_KEYS)")
    .option("--api-key-in <place>", "where callers put the key: header:NAME, query:NAME or cookie:NAME", "header:X-Api-Key")
    .option("--jwt-issuer <url>", "tokens by this issuer are accepted; needs --jwks and --jwt-audience")
    .option("--jwt-audience <name>", "whom such tokens must be meant for; may be given several times", collect)
    .option("--jwks <url>", "where the issuer publishes its keys")
    .option("--jwt-scope <scope>", "a scope such tokens must have; may be given several times", collect)
    .option("--jwt-tenant-claim <name>", "the claim with the caller's tenant")
    .option("--jwt-token-url <url>", "where clients get tokens, for the card")
    .option("--allow-did <did>", "callers that sign with a key of this DID; may be given several times", collect)
    .option("--gateway <caller>", "this caller is a gateway and speaks for others; may be given several times", collect)
    .option("--audit <file>", "log who is admitted or refused; `koine audit` reads it");
}
