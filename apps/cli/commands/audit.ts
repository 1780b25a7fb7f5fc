import { type Command, Option } from "commander";
import { parseMoment } from "../option-values.js";
import { AUDIT_EVENTS } from "./choices.js";
import { lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine audit audit.log                            who came, who was refused, and why
  koine audit audit.log --event refused --since 2026-01-31T12:00:00Z
  koine audit audit.log --follow --who ann
  koine audit audit.log --verify                   is a line missing, changed or added
  koine audit audit.log -o json | jq -r .reason

Rotated files (audit.log.1, audit.log.2, …) are read first, the oldest first.`;

/** `koine audit`: reads an audit log. */
export function addAudit(program: Command): void {
  program
    .command("audit")
    .description("read an audit log: who was admitted or refused, and why")
    .argument("<file>", "the log that `koine serve --audit` writes")
    .option("-f, --follow", "go on with new lines as they are written, until Ctrl-C")
    .option("--since <time>", "only lines from this time on", parseMoment)
    .option("--who <name>", "only lines about this caller")
    .addOption(new Option("--event <kind>", "only lines of this kind").choices([...AUDIT_EVENTS]))
    .option("--verify", "check that every line follows the one before it, and print the digest of the last")
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../audit.js")).readAudit));
}
