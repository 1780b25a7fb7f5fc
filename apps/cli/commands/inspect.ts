import type { Command } from "commander";
import { parseCount } from "../option-values.js";
import { addCredentialOptions, addFilterOptions, lazyAction, outputOption } from "./shared-options.js";

const LAST_DEFAULT = 100;
const EXAMPLES = `
Examples:
  koine inspect http://127.0.0.1:8081                        every exchange as it ends
  koine inspect http://127.0.0.1:8081 --bytes                with wire bytes in, envelope, wire bytes out
  koine inspect http://127.0.0.1:8081 --once --failed        what went wrong lately
  koine inspect http://127.0.0.1:8081 --once --tree --trace 4bf92f3577b34da6a3ce929d0e0e4736
  koine inspect http://127.0.0.1:8081 -o json | jq -r .text

Credentials are never shown: header fields and JSON members that hold them are left out before anything is kept.`;

/** `koine inspect`: the messages of a gateway. */
export function addInspect(program: Command): void {
  const command = program
    .command("inspect")
    .description("show the messages of a gateway as they pass: wire in, envelope, wire out, losses")
    .argument("<gateway-url>", "the admin listener of the gateway, printed at its start; its token is read from KOINE_TOKEN")
    .option("--bytes", "show the bytes of every request and response, and the envelope between them")
    .option("--tree", "draw the trace of every exchange as a tree")
    .option("--once", "show the kept messages, and exit")
    .option("--last <count>", "with --once: how many", parseCount, LAST_DEFAULT);
  addCredentialOptions(addFilterOptions(command))
    .addOption(outputOption())
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../inspect.js")).inspect));
}
