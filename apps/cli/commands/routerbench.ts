import { type Command, InvalidArgumentError, Option } from "commander";
import type { Mode } from "../../../bench/routerbench/index.js";
import { parseWhole } from "../option-values.js";
import { FORMATS } from "../output.js";
import { ABLATIONS } from "./choices.js";
import { addModelOptions, formatOption, lazyAction } from "./shared-options.js";

const SHAPES = [...FORMATS, "html"] as const;
/** The modes of the benchmark, which is loaded only when it runs. */
const MODES = ["spec", "spec+perf", "model"] as const satisfies readonly Mode[];

const EXAMPLES = `
Examples:
  koine routerbench                                    the project's own scenarios
  koine routerbench mine.jsonl --mode spec,spec+perf --wrong
  koine routerbench mine.jsonl --ablate locks,priority,narrative
  koine routerbench mine.jsonl --mode spec,model --model-url http://127.0.0.1:11434/v1 --model small
  koine routerbench mine.jsonl --out results           decisions, metrics, tables, a page and a manifest
  koine routerbench --verify results mine.jsonl        is all of it what the scenarios give

A scenario is right only if all its modules are. One with a malformed or absent record is left out whole, and said so.
Exit code 1 means that a run could score nothing, or that --verify found a difference.`;

/** `koine routerbench`: measures the accuracy of the router. */
export function addRouterbench(program: Command): void {
  const command = program
    .command("routerbench")
    .description("measure how often the router is right, on scenarios whose answers are known")
    .argument("[file...]", "scenarios with labels (default: the project's own)")
    .addOption(listOption("--mode <list>", "what chooses; several are put side by side", MODES).default(["spec"], "spec"))
    .addOption(listOption("--ablate <list>", "run again without each of these parts", ABLATIONS))
    .option("--ranking <file>", "protocols, the best first, for spec+perf (default: A2A, ACP, ANP, Agora)")
    .option("--embeddings", "understand sentences by their meaning, too; `koine embeddings install` brings what it needs")
    .addOption(
      new Option("--split <half>", "measure one half of the scenarios, divided evenly by level and labels").choices([
        "dev",
        "test",
      ]),
    )
    .option("--seed <number>", "divides the scenarios for --split, and is sent to the model (default: 0)", parseWhole)
    .option("--temperature <number>", "sent to the model (default: 0)", parseTemperature)
    .option("--prompt <file>", "instructions of the model instead of the router's own, with {{candidates}} in them")
    .option("--train <file>", "train the baselines on these scenarios instead of on the rest of the same file")
    .option("--wrong", "list the modules that were not answered right")
    .option("--out <dir>", "leave decisions, metrics, tables, a page and a manifest in this folder")
    .option("--force", "write into a folder that is not empty")
    .option("--stamp", "write the time into the manifest")
    .option("--verify <dir>", "compute what --out has left again, and report what differs")
    .addOption(formatOption(SHAPES));
  addModelOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../routerbench.js")).routerbench));
}

function parseTemperature(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 2)) throw new InvalidArgumentError("It is a number from 0 to 2.");
  return value;
}

function listOption<T extends string>(flags: string, description: string, known: readonly T[]): Option {
  return new Option(flags, `${description} (${known.join(", ")})`).argParser((text): readonly T[] =>
    [...new Set(text.split(",").map((word) => word.trim()))].map((word) => {
      const found = known.find((each) => each === word);
      if (found === undefined) throw new InvalidArgumentError(`It is a list of ${known.join(", ")}.`);
      return found;
    }),
  );
}
