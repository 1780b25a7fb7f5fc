import type { Command } from "commander";
import type { Report, RunOptions } from "../conformance/index.js";
import { AgentError, type Credentials, connect, credentialHeaders, type Json, type Protocol, protocols } from "../src/index.js";
import { type CredentialOptions, credentialsOf } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { type IdentityCredentialOptions, identityCredentials } from "./identity-credentials.js";
import { collect, parseSeconds } from "./option-values.js";
import { createOutput, type Format } from "./output.js";
import { addCredentialOptions, checkedAddress, outputOption } from "./peer.js";
import { printable } from "./printable.js";
import { startProgress } from "./progress.js";

interface ConformOptions extends CredentialOptions, IdentityCredentialOptions {
  readonly output: Format;
  readonly only?: readonly string[];
  readonly protocol?: string;
  /** Milliseconds, for one requirement. */
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  koine conform http://127.0.0.1:8080
  koine conform https://agent.example --only a2a:1.0:grpc -o json
  KOINE_TOKEN=… koine conform https://agent.example

Exit code 0 means that everything that must hold holds; 1 that something does not.`;

/** `koine conform`: does this endpoint keep to its protocol, requirement by requirement. */
export function addConform(program: Command): void {
  const command = program
    .command("conform")
    .description("check any endpoint against its protocol, requirement by requirement")
    .argument("<url>", "where the agent is")
    .addOption(outputOption())
    .option("--only <id>", "requirements whose id begins so; may be given several times", collect)
    .option("--protocol <id>", "check this protocol, also if nothing at the address seems to speak it")
    .option("--timeout <seconds>", "how long one requirement may take", parseSeconds);
  addCredentialOptions(command).addHelpText("after", EXAMPLES).action(conform);
}

async function conform(url: string, options: ConformOptions): Promise<void> {
  const address = checkedAddress(url);
  const output = createOutput(options.output);
  const credentials = await shownBy(options);
  const chosen = await spokenAt(address, options, credentials);
  // Hundreds of requirements, which no other command needs.
  const { formatDetails, formatGrid, runConformance, secureExchange, toGrid } = await import("../conformance/index.js");
  const progress = startProgress({ stream: output.stderr });
  const subject = {
    url: address.replace(/\/$/, ""),
    exchange: secureExchange(credentials.tls ?? {}),
    headers: credentialHeaders(credentials),
    newId: () => crypto.randomUUID(),
  };
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
  // A report is plain data, so its JSON is JSON.
  if (output.format === "json") await output.document({ ...report, grid: toGrid(report) } as unknown as Json);
  else await output.text(`${formatGrid(toGrid(report))}\n\n${printable(formatDetails(report))}\n`);
  if (!report.conforms)
    throw new CliError(EXIT.failure, "the endpoint does not conform: something that must hold does not", {
      code: "not_conforming",
    });
}

/** The checks write every request themselves, so what needs the card to be placed, or a token to be fetched, is not for them. */
async function shownBy(options: ConformOptions): Promise<Credentials> {
  if (options.apiKeyEnv !== undefined || options.clientId !== undefined)
    throw usageError(
      "the checks are made with a token, headers or a certificate",
      "Give --token-env, --header, or --cert and --key.",
    );
  const { tls } = await identityCredentials(options);
  return { ...credentialsOf(options), ...(tls === undefined ? {} : { tls }) };
}

function runOptionsOf({ only, timeout }: ConformOptions, see: (done: number, total: number, id: string) => void): RunOptions {
  return { only, timeoutMs: timeout, onProgress: ({ id }, done, total) => see(done, total, id) };
}

/** The protocols to check: those somebody speaks there, or the one that was named. Nobody there at all is another matter. */
async function spokenAt(url: string, options: ConformOptions, credentials: Credentials): Promise<readonly Protocol[]> {
  const named = protocols.filter(({ id }) => id === options.protocol);
  if (options.protocol !== undefined && named.length === 0)
    throw usageError(`no protocol is called ${options.protocol}`, `There are: ${protocols.map(({ id }) => id).join(", ")}`);
  const spoken: Protocol[] = [];
  let refusal: unknown;
  for (const protocol of options.protocol === undefined ? protocols : named) {
    try {
      const peer = await connect(url, { protocols: [protocol], credentials, as: "koine" });
      spoken.push(protocol);
      await peer.close();
    } catch (thrown) {
      refusal = thrown;
    }
  }
  if (spoken.length > 0) return spoken;
  const silent = refusal instanceof AgentError && (refusal.code === "unavailable" || refusal.code === "deadline");
  if (named.length === 0 || silent) throw refusal;
  return named;
}
