import type { Command } from "commander";
import { addPeerOptions, lazyAction, NOT_COMPARED } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine replay talk.jsonl --to http://127.0.0.1:9090
  koine replay talk.jsonl --to http://127.0.0.1:8080 --pin acp          the same conversation in another protocol
  koine replay talk.jsonl --to http://127.0.0.1:9090 -o json | jq 'select(.verdict == "different")'

Requests are sent in the order of the file. Sessions, tasks and parents get new ids, and what belonged together stays
together. ${NOT_COMPARED}
Exit code 1 says that an answer differs from the recorded one; --no-diff only sends.`;

/** `koine replay`: sends a recording to an agent and compares the answers. */
export function addReplay(program: Command): void {
  const command = program
    .command("replay")
    .description("send recorded requests to an agent, in any protocol, and compare its answers with the recorded ones")
    .argument("<file>", "what `koine record` wrote: one UTE message per line")
    .requiredOption("--to <url>", "where the agent is")
    .option("--pin <interface>", "the same as --protocol")
    .option("--as <name>", "the caller name to send", "koine")
    .option("--no-diff", "do not compare answers; exit code 0 if all requests could be sent");
  addPeerOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../replay.js")).replay));
}
