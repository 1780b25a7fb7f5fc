import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, collectPairs, parseCount, parsePort, parseSeconds } from "../option-values.js";
import { FORMATS } from "../output.js";
import { REQUIREMENTS } from "./choices.js";

/** What `koine replay` ignores: for its help and its summary. */
export const NOT_COMPARED = "Not compared: ids, times, source and destination; nor where a text was cut into parts.";

/** Loads the action of a command when it runs: every start declares all commands, so declaring them must be cheap. */
export function lazyAction<Args extends unknown[]>(load: () => Promise<(...args: Args) => Promise<void>>) {
  return async (...args: Args): Promise<void> => (await load())(...args);
}

/** `-o`, on every command that prints data. */
export function outputOption(): Option {
  return formatOption(FORMATS);
}

export function formatOption(formats: readonly string[]): Option {
  return new Option("-o, --output <format>", `output format: ${alternatives(formats)}`).choices(formats).default("text");
}

/** `--profile`, on every command that serves. */
export function profileOption(): Option {
  return new Option(
    "--profile <name>",
    "recommended: refuse to start without what production needs, warn about the rest, smaller limits",
  ).choices(["minimal", "recommended"]);
}

/** `a, b or c`. */
export function alternatives(choices: readonly string[]): string {
  return [choices.slice(0, -1).join(", "), ...choices.slice(-1)].join(" or ");
}

export function addCredentialOptions(command: Command): Command {
  return addIdentityCredentialOptions(
    command
      .optionsGroup("Credentials:")
      .option("--token-env <name>", "the environment variable with the bearer token (default: KOINE_TOKEN, if it is set)")
      .option("--header <line>", "a header for every request, 'Name: value'; may be given several times", collect),
  );
}

/** The proxies in front of a server. */
export function addProxyOptions(command: Command): Command {
  return command
    .option("--trusted-proxy <address>", "a proxy in front, or its network: 10.0.0.0/8; may be given several times", collect)
    .addOption(
      new Option("--trusted-proxy-by <what>", "where it states the caller's address (default: x-forwarded-for)").choices([
        "x-forwarded-for",
        "forwarded",
        "proxy-protocol",
      ]),
    )
    .option("--trusted-proxy-hops <number>", "how many of them a request passes at most (default: 1)", parseCount);
}

/** Traces of a command's calls. */
export function addTraceOptions(command: Command): Command {
  return command
    .option(
      "--trace",
      "export traces by OTLP, to http://localhost:4318 unless OTEL_EXPORTER_OTLP_ENDPOINT is set, which does the same",
    )
    .option("--otlp-endpoint <url>", "export traces to this collector: OTLP over HTTP, in JSON");
}

/** State changes and events of policies. One of the options switches the log on. */
export function addLogOptions(command: Command, about = "log changes of state to stderr"): Command {
  return command
    .addOption(new Option("--log-level <level>", about).choices(["info", "warn"]))
    .addOption(
      new Option("--log-format <format>", "one JSON object per line, or text (default: json)").choices(["json", "text"]),
    );
}

/** The operator's listener of a server. */
export function addAdminOptions(command: Command): Command {
  return command
    .option("--admin-port <number>", "of the operator's listener (default: any free port)", parsePort)
    .option("--admin-host <address>", "of the operator's listener (default: 127.0.0.1)")
    .option("--admin-token-file <file>", "its token (or KOINE_ADMIN_TOKEN); without it one is generated and printed")
    .option("--admin-clear-text", "allow --admin-host beyond this machine without TLS: its token can be read on the network");
}

/** For commands that connect with `connectOptionsOf`. */
export function identityOption(): Option {
  return new Option("--identity <file>", "sign every request with this identity; `koine identity create` makes one");
}

export function addPeerOptions(command: Command): Command {
  command
    .optionsGroup("Connection:")
    .option("--protocol <pin>", "only this interface: a protocol, protocol@version, or protocol@version/binding")
    .option("--timeout <seconds>", "how long to wait for the answer", parseSeconds)
    .option("-v, --verbose", "print the chosen interface and the evidence for it")
    .option("--trust <file>", "trusted public keys for card signatures: PEM, JWK or JWKS; may be given several times", collect)
    .option("--trust-jku <url>", "a trusted key set (JWKS), for signatures that name exactly this URL", collect)
    .option("--require-signed", "refuse an agent whose card has no trusted signature")
    .option(
      "--set <protocol.key=value>",
      "a setting of one protocol, as of `koine serve`; may be given several times",
      collectPairs,
    )
    .option("--store <where>", "what protocols keep, such as a registry: the folder of `koine serve --data`, or redis://…");
  return addCredentialOptions(addTraceOptions(command.addOption(identityOption()))).addOption(outputOption());
}

function addIdentityCredentialOptions(command: Command): Command {
  return command
    .option("--api-key-env <name>", "the environment variable with the API key (default: KOINE_API_KEY, if it is set)")
    .option("--client-id <id>", "the client id at the token endpoint (OAuth 2 client credentials)")
    .option("--client-secret-env <name>", "the environment variable with the client secret (default: KOINE_CLIENT_SECRET)")
    .option("--token-url <url>", "the token endpoint; without it only one at the agent's own origin is trusted")
    .option("--scope <scope>", "a scope to ask for instead of those the card names; may be given several times", collect)
    .optionsGroup("TLS:")
    .option("--ca <file>", "a certificate authority to trust, for agents with certificates of a private one")
    .option("--crl <file>", "revocation lists (PEM), one for every authority of the agent's certificate")
    .option("--cert <file>", "our own certificate")
    .option("--key <file>", "the private key of our certificate")
    .optionsGroup("");
}

export function addModelOptions(command: Command): Command {
  return command
    .optionsGroup("Language model:")
    .option("--model-url <url>", "a server that speaks OpenAI's chat completions, up to the version: https://…/v1")
    .option("--model <name>", "the model's name there")
    .option("--model-key-env <name>", "the environment variable with its key");
}

export function addFilterOptions(command: Command): Command {
  return command
    .optionsGroup("Which messages:")
    .option("--agent <name>", "to or from this agent")
    .option("--trace <id>", "of this trace: 32 hex digits or a UUID")
    .option("--protocol <id>", "in this protocol")
    .addOption(new Option("--direction <direction>", "only calls to the gateway, or only those it makes").choices(["in", "out"]))
    .option("--failed", "only what failed")
    .option("--text <words>", "in which these words occur");
}

/** `--require encrypted,identity`. */
export function requireOption(description: string): Option {
  return new Option("--require <list>", `${description}: ${REQUIREMENTS.join(", ")}`).argParser((text) =>
    text.split(",").map((each) => {
      const known = REQUIREMENTS.find((name) => name === each.trim());
      if (known === undefined) throw new InvalidArgumentError(`${JSON.stringify(each)} is none of ${REQUIREMENTS.join(", ")}`);
      return known;
    }),
  );
}
