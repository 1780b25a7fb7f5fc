import type { Command } from "commander";
import { addLogOptions, addTraceOptions, lazyAction, outputOption, profileOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine gateway koine.yaml                      every agent of the file, on one port, in every protocol
  koine gateway koine.yaml --check              is the file valid; nothing is started
  koine gateway koine.yaml --profile recommended --check    and what production needs besides
  koine gateway koine.yaml --check --connect    and do its agents answer
  koine bridge http://127.0.0.1:8000            the same for one agent, without a file

The smallest file:
  agents:
    - name: translator
      upstream: http://127.0.0.1:8000

A changed file is reloaded automatically, and on SIGHUP; open streams continue. An invalid file is rejected with the lines
of its problems and changes nothing. docs/gateway.md has every member.`;

/** `koine gateway`: several upstreams, from a configuration file. */
export function addGateway(program: Command): void {
  const command = program
    .command("gateway")
    .description("put agents that already run on one port, in every protocol")
    .argument("<config>", "a YAML or JSON file")
    .addOption(profileOption())
    .option("--check", "read the file and everything that it names; start nothing")
    .option("--connect", "with --check: connect to the agents too")
    .option("--require-upstreams", "an agent that cannot be reached at the start is an error");
  addTraceOptions(addLogOptions(command, "log to stderr, if the file names no log"))
    .option("--no-watch", "reload a changed file on SIGHUP only")
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../gateway.js")).runGateway));
}
