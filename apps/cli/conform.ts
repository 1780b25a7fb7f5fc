import type { Command } from "commander";
import type { Report, RunOptions } from "../../conformance/index.js";
import type { Json } from "../../src/index.js";
import { shownBy, spokenAt, subjectAt } from "./conform-subject.js";
import { conformThrough } from "./conform-through.js";
import type { CredentialOptions } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { IdentityCredentialOptions } from "./identity-credentials.js";
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
  /** Where the gateway is. */
  readonly through?: string;
  readonly throughTokenEnv?: string;
}

const EXAMPLES = `
Examples:
  koine conform http://127.0.0.1:8080
  koine conform https://agent.example --only a2a:1.0:grpc -o json
  KOINE_TOKEN=… koine conform https://agent.example
  koine conform http://127.0.0.1:8080 --through http://127.0.0.1:9090

With --through the agent at <url> is checked directly, the gateway before it in every protocol it offers, and what holds
without the gateway and not through it is told. In protocols that the agent does not speak, a plain host is what the gateway
is compared with.

Exit code 0 means that everything that must hold holds, or that the gateway breaks nothing; 1 that something does not.`;

/** `koine conform`: does this endpoint keep to its protocol, requirement by requirement. */
export function addConform(program: Command): void {
  const command = program
    .command("conform")
    .description("check any endpoint against its protocol, requirement by requirement")
    .argument("<url>", "where the agent is")
    .addOption(outputOption())
    .option("--only <id>", "requirements whose id begins so; may be given several times", collect)
    .option("--protocol <id>", "check this protocol, also if nothing at the address seems to speak it")
    .option("--timeout <seconds>", "how long one requirement may take", parseSeconds)
    .option("--through <gateway>", "tell what the gateway at this address breaks that holds without it")
    .option("--through-token-env <name>", "the environment variable with the bearer token for the gateway");
  addCredentialOptions(command).addHelpText("after", EXAMPLES).action(conform);
}

async function conform(url: string, options: ConformOptions): Promise<void> {
  const address = checkedAddress(url);
  const output = createOutput(options.output);
  const credentials = await shownBy(options);
  if (options.through !== undefined)
    return conformThrough({ ...options, upstream: address, credentials, gateway: options.through }, output);
  if (options.throughTokenEnv !== undefined)
    throw usageError("--through-token-env is for the gateway of --through, and there is none", "Give --through <gateway>.");
  const chosen = await spokenAt(address, options.protocol, credentials);
  // Hundreds of requirements, which no other command needs.
  const { formatDetails, formatGrid, runConformance, toGrid } = await import("../../conformance/index.js");
  const progress = startProgress({ stream: output.stderr });
  const subject = await subjectAt(address, credentials);
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

function runOptionsOf({ only, timeout }: ConformOptions, see: (done: number, total: number, id: string) => void): RunOptions {
  return { only, timeoutMs: timeout, onProgress: ({ id }, done, total) => see(done, total, id) };
}
