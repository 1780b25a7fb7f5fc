import type { Credentials, Json } from "../../src/index.js";
import { spokenAt, subjectAt } from "./conform-subject.js";
import { credentialsOf } from "./credentials.js";
import { CliError, EXIT, usageError } from "./exit.js";
import type { Output } from "./output.js";
import { checkedAddress } from "./peer.js";
import { printable } from "./printable.js";
import { startProgress } from "./progress.js";

export interface ThroughCommand {
  /** Where the agent itself is. */
  readonly upstream: string;
  /** What is shown to the agent; nothing of it is shown to the gateway. */
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
export async function conformThrough(command: ThroughCommand, output: Output): Promise<void> {
  const gateway = checkedAddress(command.gateway);
  const shown = gatewayCredentials(command);
  const ends = {
    upstream: { address: command.upstream, credentials: command.credentials, wanted: undefined },
    gateway: { address: gateway, credentials: shown, wanted: command.protocol },
  };
  const [direct, front] = await Promise.all(
    [ends.upstream, ends.gateway].map(async ({ address, credentials, wanted }) => ({
      protocols: await spokenAt(address, wanted, credentials),
      subject: await subjectAt(address, credentials),
    })),
  );
  if (direct === undefined || front === undefined) throw new TypeError("two ends were asked for");
  const { formatThrough, runThrough } = await import("../../conformance/index.js");
  const progress = startProgress({ stream: output.stderr });
  const report = await runThrough(direct, front, {
    only: command.only,
    timeoutMs: command.timeout,
    onProgress: (stage, { id }, done, total) => progress.show(`${stage}: ${done} of ${total}`, id),
  }).finally(() => progress.stop());
  if (report.through.verdicts.length === 0)
    throw usageError("no requirement has such an id", "Run it without --only to see the ids.");
  // A report is plain data, so its JSON is JSON.
  if (output.format === "json") await output.document(report as unknown as Json);
  else await output.text(`${printable(formatThrough(report))}\n`);
  if (!report.holds) throw new CliError(EXIT.failure, "the gateway breaks what holds without it", { code: "not_conforming" });
}

/** A token for the agent is not for the gateway, and the other way round; so KOINE_TOKEN, which is the agent's, is left out. */
function gatewayCredentials({ throughTokenEnv }: ThroughCommand): Credentials {
  return throughTokenEnv === undefined ? {} : credentialsOf({ tokenEnv: throughTokenEnv });
}
