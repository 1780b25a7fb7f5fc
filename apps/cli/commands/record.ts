import { type Command, InvalidArgumentError } from "commander";
import { parseCount } from "../option-values.js";
import { addCredentialOptions, addFilterOptions, lazyAction, outputOption } from "./shared-options.js";

const UNITS: { readonly [unit: string]: number } = { "": 1_000, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 7 * 24 * 3_600_000;

const EXAMPLES = `
Examples:
  koine record http://127.0.0.1:8081 --to talk.jsonl                   until Ctrl-C
  koine record http://127.0.0.1:8081 --to talk.jsonl --for 30s --agent writer
  koine replay talk.jsonl --to http://127.0.0.1:9090 --pin acp         the same requests to another agent

The file has one UTE message per line, what was asked and what was answered; lines are added to those already there.`;

/** `koine record`: conversations of a gateway into a file. */
export function addRecord(program: Command): void {
  const command = program
    .command("record")
    .description("write the conversations of a gateway into a file, as UTE JSON lines")
    .argument("<gateway-url>", "the admin listener of the gateway, printed at its start; its token is read from KOINE_TOKEN")
    .requiredOption("--to <file>", "where to write (needed); lines are added at its end")
    .option("--for <time>", "how long: 30s, 5m, 1h; without it until Ctrl-C", parseDuration)
    .option("--count <number>", "end after so many exchanges", parseCount);
  addCredentialOptions(addFilterOptions(command))
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../record.js")).record));
}

/** `30s`, `5m`, `1h`, or seconds. */
function parseDuration(text: string): number {
  const [, figure = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|)$/.exec(text) ?? [];
  const ms = Number(figure) * (UNITS[unit] ?? 0);
  if (!(ms > 0) || ms > LONGEST_MS) throw new InvalidArgumentError("A time looks like 30s, 5m or 1h, up to a week.");
  return Math.max(1, Math.round(ms));
}
