import type { Command } from "commander";
import { lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine gateway koine.yaml                      every agent of the file, on one port, in every protocol
  koine gateway koine.yaml --check              is the file sound; nothing is opened
  koine gateway koine.yaml --check --connect    and do its agents answer
  koine bridge http://127.0.0.1:8000            the same for one agent, without a file

The smallest file:
  agents:
    - name: translator
      upstream: http://127.0.0.1:8000

A changed file is taken into use by itself, and on SIGHUP; streams go on. One with a mistake changes nothing, and is told
with its lines. docs/gateway.md has every member.`;

/** `koine gateway`: agents of others, from a configuration. */
export function addGateway(program: Command): void {
  program
    .command("gateway")
    .description("put agents that already run on one port, in every protocol")
    .argument("<config>", "a YAML or JSON file")
    .option("--check", "read the file and everything that it names; start nothing")
    .option("--connect", "with --check: ask the agents too")
    .option("--require-upstreams", "an agent that cannot be reached at the start is an error")
    .option("--no-watch", "a changed file is taken into use on SIGHUP only")
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../gateway.js")).runGateway));
}
