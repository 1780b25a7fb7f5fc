import { type Command, Option } from "commander";
import { ABLATIONS, PRIORITY } from "./choices.js";
import { addModelOptions, lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine route scenario.yaml --explain                what each module gets, and why
  koine route --text "Each partner must prove who it is; nobody in between may read along."
  koine route --requires streaming,job-lifecycle     no prose at all
  koine route bench.jsonl -o json | jq -r '.decisions[] | [.module_id, .selected_protocol] | @tsv'
  koine route scenario.yaml --scope scenario --abstain default:a2a
  koine route --schema > router-scenario.schema.json

A file holds one scenario or many, as JSON, YAML, or one JSON object a line: in our own form (--schema), as the released
ProtocolRouterBench, or in either form of its paper. Answers in a file are never looked at.
Where the text does not decide, a person at a terminal is asked; elsewhere the module stays undecided, which is no failure.`;

/** `koine route`: which protocol for which module, and why. */
export function addRoute(program: Command): void {
  const command = program
    .command("route")
    .description("choose a protocol for every module of a scenario, and say why")
    .argument("[file...]", "scenario files; - is stdin")
    .option("--text <text>", "one module in words, instead of a file")
    .option("--requires <list>", "capabilities that one module needs, instead of a file or with --text; see --capabilities")
    .option("--explain", "print the evidence, and why each other protocol was rejected")
    .option("--learned <store>", "with --explain: how earlier calls went by each protocol, kept in this folder or redis://…")
    .option(
      "--context <name>",
      "for --learned: the calls in question, as `koine send --context` and learn.context of koine.yaml name them",
    )
    .addOption(outputOption())
    .option("--skip-malformed", "leave out malformed scenarios and say which, instead of failing")
    .addOption(
      new Option("--schema [dialect]", "print the JSON Schema of our own form of scenario files, for 2020-12 or draft-07")
        .choices(["2020-12", "draft-07"])
        .preset("2020-12"),
    )
    .option("--capabilities", "print what modules can need and protocols can bring")
    .addOption(
      new Option("--record <form>", "members of a decision with -o json: all, or strictly the four of the specification")
        .choices(["full", "strict"])
        .default("full"),
    )
    .optionsGroup("How to choose:")
    .option("--candidates <list>", "the protocols that take part, in the order of last resort (default: a2a,acp,agora,anp)")
    .option("--priority <list>", `groups of needs, the strongest first (default: ${PRIORITY.join(",")})`)
    .option("--ranking <file>", 'breaks ties: JSON or YAML with {"ranking": [protocols, the best first]}, or results of a bench')
    .addOption(
      new Option("--scope <scope>", "one protocol for each module, or one for the whole scenario")
        .choices(["module", "scenario"])
        .default("module"),
    )
    .option("--abstain <policy>", "where the text does not decide: ask, default:<protocol>, or model", "ask")
    .option("--embeddings", "understand sentences by their meaning, too; needs the optional packages")
    .option("--without <list>", `switch parts off, to see what each is worth: ${ABLATIONS.join(", ")}`);
  addModelOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../route.js")).runRoute));
}
