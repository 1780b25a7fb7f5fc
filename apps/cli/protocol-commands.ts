import { readFile, stat } from "node:fs/promises";
import type { Command } from "commander";
import * as commandRegistry from "../../src/protocols/command-registry.js";
import { type CommandOutput, type CommandTools, type ProtocolCommand, protocols } from "../../src/public/protocols.js";
import { type Records, recordsBelow } from "../../src/public/stores.js";
import { outputOption } from "./commands/shared-options.js";
import { CliError, usageError } from "./exit.js";
import { untilStopped } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { problemOf } from "./problem.js";
import { openRecordStore, type StoreOptions } from "./task-store.js";

interface OwnOptions extends StoreOptions {
  readonly output: Format;
}

const COMMANDS: { readonly [id: string]: () => Promise<readonly ProtocolCommand[]> } = commandRegistry;

/** `koine <protocol> …`: the commands that a protocol brings along. */
export async function addProtocolCommands(root: Command): Promise<void> {
  const id = root.name();
  for (const command of (await COMMANDS[id]?.()) ?? []) addCommand(root, id, command);
  // A group is described by its subcommands.
  for (const group of root.commands.filter((each) => each.commands.length > 0))
    group.description(group.commands.map((each) => each.name()).join(", "));
}

function addCommand(root: Command, protocol: string, own: ProtocolCommand): void {
  const words = own.words.split(" ");
  const last = words.pop() ?? "";
  const command = words.reduce(subcommand, root).command(last).description(own.summary).addOption(outputOption());
  for (const { name, about, many } of own.arguments) command.argument(many === true ? `<${name}...>` : `<${name}>`, about);
  for (const { flags, about, default: value } of own.options ?? []) command.option(flags, about, value);
  if (own.store !== "none")
    command
      .option("--data <dir>", "the folder that `koine serve --data` uses")
      .option("--store <url>", "the Redis that `koine serve --store` uses");
  if (own.examples.length > 0) command.addHelpText("after", `\nExamples:\n${own.examples.map((line) => `  ${line}`).join("\n")}`);
  command.action(() => run(protocol, own, command.args, command.opts<OwnOptions>()));
}

/** The subcommand of this name, created if missing: `protocol add` and `protocol list` share one. */
function subcommand(parent: Command, name: string): Command {
  return parent.commands.find((each) => each.name() === name) ?? parent.command(name);
}

async function run(protocol: string, own: ProtocolCommand, given: readonly string[], options: OwnOptions): Promise<void> {
  const output = createOutput(options.output);
  if (own.readOnly === true && options.data !== undefined) await requireFolder(options.data);
  const store = own.store === "none" ? undefined : await openRecordStore(options, `what ${protocol} remembers`);
  if ((own.store ?? "required") === "required" && store === undefined)
    throw usageError("no store was given", "Give --data DIR or --store redis://…, as for koine serve.");
  try {
    const printed = await own.run(given, toolsFor(protocol, store?.records, { ...options }, output));
    if (printed !== undefined) await print(printed, output);
  } catch (thrown) {
    // The hints of error codes are about calling an agent, which this command does not.
    const { code, message, exit } = problemOf(thrown);
    throw new CliError(exit, message, { code });
  } finally {
    await store?.close?.();
  }
}

async function print({ text, document }: CommandOutput, output: Output): Promise<void> {
  if (output.format === "json") await output.document(document);
  else if (text === "") output.say("No entries.");
  else await output.text(text.endsWith("\n") ? text : `${text}\n`);
}

/** A read-only command creates no folder, so a misspelled name is an error. */
async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw usageError(`there is no folder ${folder}`, "It is the one that `koine serve --data` uses.");
}

function toolsFor(
  protocol: string,
  records: Records | undefined,
  options: CommandTools["options"],
  output: Output,
): CommandTools {
  return {
    get records() {
      if (records === undefined) throw new Error(`a command of ${protocol} asks for a store that there is not`);
      return recordsBelow(records, protocol);
    },
    hasStore: records !== undefined,
    options,
    readFile: (path) =>
      readFile(path).catch((thrown: NodeJS.ErrnoException) => {
        throw usageError(`the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
      }),
    async untilStopped(ready) {
      await print(ready, output);
      await untilStopped(output);
    },
  };
}

/** The settings of `--set`, as each protocol describes them. */
export function settingsHelp(): string {
  const lines = protocols.flatMap(({ id, settings = [] }) =>
    settings.map(({ name, example, about }) => `  ${id}.${name}=${example}\n      ${about}`),
  );
  return ["\nSettings of a protocol (--set protocol.key=value):", ...lines].join("\n");
}
