import { Command, type CommanderError, Help, type Option } from "commander";
import { addAudit } from "./commands/audit.js";
import { addBench } from "./commands/bench.js";
import { addBridge } from "./commands/bridge.js";
import { addCard } from "./commands/card.js";
import { PROTOCOLS_WITH_COMMANDS } from "./commands/choices.js";
import { addConform } from "./commands/conform.js";
import { addDemo } from "./commands/demo.js";
import { addEmbeddings } from "./commands/embeddings.js";
import { addGateway } from "./commands/gateway.js";
import { addIdentity } from "./commands/identity.js";
import { addInspect } from "./commands/inspect.js";
import { addMcp } from "./commands/mcp.js";
import { addRecord } from "./commands/record.js";
import { addReplay } from "./commands/replay.js";
import { addRoute } from "./commands/route.js";
import { addRouterbench } from "./commands/routerbench.js";
import { addSend } from "./commands/send.js";
import { addServe } from "./commands/serve.js";
import { alternatives } from "./commands/shared-options.js";
import { addStoreKeys } from "./commands/store-keys.js";
import { addTask } from "./commands/task.js";
import { addUp } from "./commands/up.js";
import { EXIT, usageError } from "./exit.js";

/** Help or the version was printed; nothing is left to do. */
export class HelpShown extends Error {}

const ABOUT = `
Data goes to stdout, everything else to stderr. Every option can be given in the environment, as KOINE_ and its name in
upper snake case: --page-size is KOINE_PAGE_SIZE. A flag wins over the environment.

Exit codes: 0 the tool did its job, even if the task failed · 1 failure · 2 usage · 3 unreachable · 4 auth · 5 timeout`;

const EXAMPLES = `
Examples:
  koine demo                                   a mixed network of agents, bridges and a page, on this machine
  koine serve ./agent.ts --try                 serve an agent, and print calls to try
  koine send http://127.0.0.1:8080 "hello"     call anything
  koine card get http://127.0.0.1:8080         the agent's card, and the evidence for it
  koine conform http://127.0.0.1:8080          does it conform to its protocol
  koine route scenario.yaml --explain          which protocol for which module, and why
  koine bridge http://127.0.0.1:8080 --as acp  serve a running agent in other protocols
  koine mcp http://127.0.0.1:8080              agents as tools of an assistant
${ABOUT}`;

/** Lists the options of the command itself before the groups it shares with others. */
class OrderedHelp extends Help {
  override groupItems<T extends Command | Option>(all: T[], visible: T[], groupOf: (item: T) => string): Map<string, T[]> {
    const own = all.filter((item) => !("helpGroupHeading" in item) || item.helpGroupHeading === undefined);
    return super.groupItems([...own, ...all], visible, groupOf);
  }
}

/** A command whose options are read from the environment too. Commander reads it only when an option is added. */
class EnvCommand extends Command {
  override createCommand(name?: string): Command {
    return new EnvCommand(name);
  }

  override createHelp(): Help {
    return Object.assign(new OrderedHelp(), this.configureHelp());
  }

  override addOption(option: Option): this {
    readFromEnvironment(option, process.env);
    return super.addOption(option);
  }
}

/**
 * The whole command line. Commands are declared without the library. What only the protocol registry knows (commands and
 * settings of a protocol) is added when these arguments ask for it.
 */
export async function createProgram(version: string, args: readonly string[]): Promise<Command> {
  const program = new EnvCommand("koine")
    .description("One layer between an agent and every agent protocol.")
    .version(version, "-V, --version", "print the version")
    .addHelpText("after", EXAMPLES);
  addServe(program);
  addSend(program);
  addCard(program);
  addTask(program);
  addConform(program);
  addRoute(program);
  addRouterbench(program);
  addBench(program);
  addBridge(program);
  addGateway(program);
  addUp(program);
  addDemo(program);
  addInspect(program);
  addRecord(program);
  addReplay(program);
  addMcp(program);
  addEmbeddings(program);
  addAudit(program);
  addIdentity(program);
  addStoreKeys(program);
  for (const id of PROTOCOLS_WITH_COMMANDS) program.command(id).description(`commands of the ${id} protocol`);
  await addFromRegistry(program, args);
  for (const command of everyCommand(program)) configureCommand(command);
  return program;
}

/** The commands with `--set`, whose help lists the settings of every protocol. */
const TAKES_SETTINGS: readonly string[] = ["serve", "bridge"];

async function addFromRegistry(program: Command, args: readonly string[]): Promise<void> {
  const name = args[0] === "help" ? args[1] : args[0];
  const asksHelp = args[0] === "help" || args.includes("--help") || args.includes("-h");
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return;
  if (PROTOCOLS_WITH_COMMANDS.includes(command.name())) {
    const { addProtocolCommands } = await import("./protocol-commands.js");
    await addProtocolCommands(command);
  } else if (TAKES_SETTINGS.includes(command.name()) && asksHelp) {
    const { settingsHelp } = await import("./protocol-commands.js");
    command.addHelpText("after", settingsHelp());
  }
}

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

function configureCommand(command: Command): void {
  command
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ helpWidth: 110, optionDescription })
    .exitOverride((error) => {
      throw toCliError(error, command);
    });
  if (command.parent !== null) command.addHelpText("after", "\nSee `koine --help` for output, environment and exit codes.");
}

/** A boolean option is off for 0, false, no and the empty string. */
function readFromEnvironment(option: Option, env: NodeJS.ProcessEnv): void {
  if (option.long === undefined || option.long === null || option.long === "--version") return;
  // The data of a message is no setting; and for `serve` the variable names a folder.
  if (option.flags === "--data <json>") return;
  const name = `KOINE_${option.long.slice(2).replaceAll("-", "_").toUpperCase()}`;
  if (option.isBoolean() && /^(0|false|no|)$/i.test(env[name] ?? "")) return;
  option.env(name);
}

/** Omits the environment variable of each option: the rule is stated once, in the root help. */
function optionDescription(option: Option): string {
  const facts: string[] = [];
  const choices = option.argChoices ?? [];
  if (choices.length > 0 && !option.description.endsWith(alternatives(choices))) facts.push(choices.join(", "));
  if (option.defaultValue !== undefined && typeof option.defaultValue !== "boolean")
    facts.push(`default: ${String(option.defaultValue)}`);
  return facts.length === 0 ? option.description : `${option.description} (${facts.join("; ")})`;
}

function toCliError(error: CommanderError, command: Command): Error {
  if (error.exitCode === EXIT.ok) return new HelpShown();
  const path = pathOf(command);
  if (error.code === "commander.help") return usageError(`${path} needs a command`, `${path} --help lists them.`);
  const [message = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = suggestions.join(" ").replace(/^\(|\)$/g, "");
  return usageError(message, [suggestion, `${path} --help shows how it is used.`].filter((each) => each !== "").join(" "));
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
