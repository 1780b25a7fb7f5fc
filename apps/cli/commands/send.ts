import type { Command } from "commander";
import { collect, collectPairs, parseJson, parseSeconds, parseVersion, parseWhole } from "../option-values.js";
import { addPeerOptions, lazyAction, requireOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine send http://127.0.0.1:8080 "good morning"
  echo "a long text" | koine send http://127.0.0.1:8080 --stream
  koine send http://127.0.0.1:8080 "what is in it?" --file photo.png --save out
  koine send http://127.0.0.1:8080 --task 4f1c… "the second one"      answer a question of the agent
  koine send http://127.0.0.1:8080 "build it" --no-wait                start, and look later with koine task get
  koine send http://127.0.0.1:8080 "hello" --protocol a2a@0.3 -v       by this protocol only, and say how
  koine send http://127.0.0.1:8080 "hello" --learn outcomes -v         by the protocol that worked best before

Exit code 0 means that an answer came, also when it says that the task failed; -o json has its state.`;

/** `koine send`: one message to any agent, and its answer. */
export function addSend(program: Command): void {
  const command = program
    .command("send")
    .description("send a message to an agent and print its answer")
    .argument("<url>", "where the agent is")
    .argument("[text]", "what to say; `-`, or nothing and a pipe, reads it from stdin");
  addPeerOptions(command)
    .option("--stream", "print the answer as it comes; with -o json one event per line")
    .option("--no-stream", "ask the agent for one whole answer, also on a terminal")
    .option("--task <id>", "continue this task, for example to answer its question")
    .option("--session <id>", "the conversation this belongs to")
    .option("--intent <skill>", "what is wanted: the id of one of the agent's skills")
    .option("--idempotency-key <key>", "the same key never starts the work twice")
    .option("--file <path>", "attach a file; may be given several times", collect)
    .option("--data <json>", "attach a JSON value", parseJson)
    .option("--meta <key=value>", "metadata of the message; may be given several times", collectPairs)
    .addOption(requireOption("send nothing without this security"))
    .option("--feasible <list>", "only these protocols, for example those that a decision of `koine route` left")
    .option("--learn <store>", "choose among its protocols by how earlier calls went, kept in this folder or redis://…")
    .option("--context <name>", "calls that share what was learned (default: the agent's host)")
    .option("--ttl <seconds>", "how long the agent may work on it", parseSeconds)
    .option("--priority <number>", "order in queues: higher first", parseWhole)
    .option("--tag <label>", "a label of the message; may be given several times", collect)
    .option("--min-version <version>", "the lowest protocol version to use, such as 1.0", parseVersion)
    .option("--max-version <version>", "the highest protocol version to use", parseVersion)
    .option("--no-wait", "do not wait for the answer; print the task's id")
    .option("--save <dir>", "write files of the answer into this folder")
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../send.js")).send));
}
