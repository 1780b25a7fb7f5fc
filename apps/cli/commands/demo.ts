import type { Command } from "commander";
import { parsePort } from "../option-values.js";
import { lazyAction, outputOption } from "./shared-options.js";

const DEFAULT_PORT = 7400;
const ABOUT = `
Examples:
  koine demo                 agents on A2A 0.3 and 1.0, ACP and Agora, a gateway, and a page
  koine demo --check         run it once, try everything in it, and say what held
  koine demo -o json         decisions, health and figures as JSON lines

It needs no keys and no network: everything runs on this machine, each agent in a process of its own. Ctrl-C ends all of it.
docs/demo.md explains what it shows.`;

/** `koine demo`: a mixed network with live traffic. */
export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("run a mixed network with live traffic across protocols, and show it")
    .option("--port <port>", "of the gateway; its page and the agents get those after it", parsePort, DEFAULT_PORT)
    .option("--check", "run once, try everything, and fail if anything does")
    .option("--no-open", "do not open the page in a browser")
    .addOption(outputOption())
    .addHelpText("after", ABOUT)
    .action(lazyAction(async () => (await import("../demo.js")).runDemo));
}
