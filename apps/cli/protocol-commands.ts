import { readFile, stat } from "node:fs/promises";
import type { Command } from "commander";
import { type CommandTools, type Protocol, type ProtocolCommand, protocols } from "../../src/public/protocols.js";
import { type Records, recordsBelow } from "../../src/public/stores.js";
import { outputOption } from "./commands/shared-options.js";
import { CliError, usageError } from "./exit.js";
import { createOutput, type Format } from "./output.js";
import { problemOf } from "./problem.js";
import { openTaskStore, type StoreOptions } from "./task-store.js";

interface OwnOptions extends StoreOptions {
  readonly output: Format;
}

/** `koine <protocol> …`: the commands that a protocol brings along. */
export async function addProtocolCommands(root: Command): Promise<void> {
  const protocol = protocols.find(({ id }) => id === root.name());
  if (protocol === undefined) return;
  for (const command of (await protocol.commands?.()) ?? []) addCommand(root, protocol, command);
  // A group is described by its subcommands.
  for (const group of root.commands.filter((each) => each.commands.length > 0))
    group.description(group.commands.map((each) => each.name()).join(", "));
}

function addCommand(root: Command, protocol: Protocol, own: ProtocolCommand): void {
  const words = own.words.split(" ");
  const last = words.pop() ?? "";
  const command = words.reduce(subcommand, root).command(last).description(own.summary).addOption(outputOption());
  for (const { name, about, many } of own.arguments) command.argument(many === true ? `<${name}...>` : `<${name}>`, about);
  if (own.storeless !== true)
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

async function run(protocol: Protocol, own: ProtocolCommand, given: readonly string[], options: OwnOptions): Promise<void> {
  const output = createOutput(options.output);
  if (own.readOnly === true && options.data !== undefined) await requireFolder(options.data);
  const store = own.storeless === true ? undefined : await openTaskStore(options, `what ${protocol.id} remembers`);
  if (own.storeless !== true && store === undefined)
    throw usageError("no store was given", "Give --data DIR or --store redis://…, as for koine serve.");
  try {
    const { text, document } = await own.run(given, toolsFor(protocol, store?.records));
    if (output.format === "json") await output.document(document);
    else if (text === "") output.say("No protocol documents.");
    else await output.text(text.endsWith("\n") ? text : `${text}\n`);
  } catch (thrown) {
    // The hints of error codes are about calling an agent, which this command does not.
    const { code, message, exit } = problemOf(thrown);
    throw new CliError(exit, message, { code });
  } finally {
    await store?.close?.();
  }
}

/** A read-only command creates no folder, so a misspelled name is an error. */
async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw usageError(`there is no folder ${folder}`, "It is the one that `koine serve --data` uses.");
}

function toolsFor(protocol: Protocol, records: Records | undefined): CommandTools {
  return {
    get records() {
      if (records === undefined) throw new Error(`a storeless command of ${protocol.id} asks for a store`);
      return recordsBelow(records, protocol.id);
    },
    readFile: (path) =>
      readFile(path).catch((thrown: NodeJS.ErrnoException) => {
        throw usageError(`the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
      }),
  };
}

/** The settings of `--set`, as each protocol describes them. */
export function settingsHelp(): string {
  const lines = protocols.flatMap(({ id, settings = [] }) =>
    settings.map(({ name, example, about }) => `  ${id}.${name}=${example}\n      ${about}`),
  );
  return ["\nSettings of a protocol (--set protocol.key=value):", ...lines].join("\n");
}
