import type { Command } from "commander";
import { lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine up plan.yaml                 start every module, and keep it running
  koine up plan.yaml --check         is the plan valid, and what network does it make
  koine up plan.yaml -o json         one line per change of a module's health

A plan holds decisions (or a scenario to be routed) and modules; each module has one of command, agent, url and demo.
Links between two protocols get a bridge. A link that would lower security is refused, unless the plan allows it in words.
The first Ctrl-C lets calls under way end; the second one ends everything at once.`;

/** `koine up`: a plan as running processes. */
export function addUp(program: Command): void {
  program
    .command("up")
    .description("start a planned network as real processes, and keep it running")
    .argument("<plan>", "a JSON or YAML file")
    .option("--check", "read the plan and print its network; start nothing")
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../up.js")).runUp));
}
