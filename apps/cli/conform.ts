import type { Report, RunOptions } from "../../conformance/index.js";
import type { Json } from "../../src/index.js";
import { shownBy, spokenAt, subjectAt } from "./conform-subject.js";
import { conformThrough } from "./conform-through.js";
import type { CredentialOptions } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { IdentityCredentialOptions } from "./identity-credentials.js";
import { createOutput, type Format } from "./output.js";
import { checkedAddress } from "./peer.js";
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

export async function conform(url: string, options: ConformOptions): Promise<void> {
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
