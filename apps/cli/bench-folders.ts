import type { Command } from "commander";
import {
  compareFolders,
  FolderError,
  isSuiteFolder,
  renderChanges,
  safety,
  verifyFolder,
  verifySuiteFolder,
  WriteError,
} from "../../bench/protocols/index.js";
import { accuracyDifferences } from "./bench-router-accuracy.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { createOutput, type Format } from "./output.js";
import { printable } from "./printable.js";

/** Differences that are printed; the rest is counted. */
const MAX_PRINTED = 20;

interface FolderOptions {
  readonly output: Format;
}

interface CompareOptions extends FolderOptions {
  readonly report?: string;
}

/** `koine bench verify DIR`. */
export async function verify(folder: string, options: FolderOptions, command: Command): Promise<void> {
  const output = createOutput(options.output);
  const found = await aboutFolder(async () => {
    if (isSuiteFolder(folder))
      return verifySuiteFolder(folder, (place) => accuracyDifferences(place, command.parent?.parent?.version() ?? ""));
    return safety.isSafetyFolder(folder) ? safety.verifySafetyFolder(folder) : verifyFolder(folder);
  });
  const { differences, events, status } = found;
  if (output.format === "json") await output.document(found);
  else {
    const lines = differences
      .slice(0, MAX_PRINTED)
      .map(
        ({ path, stated, computed }) =>
          `${path}: it says ${JSON.stringify(stated)}, the events give ${JSON.stringify(computed)}\n`,
      );
    const more = differences.length - lines.length;
    await output.text([...lines, ...(more > 0 ? [`${more} more differences\n`] : [])].join(""));
    if (differences.length === 0) await output.text(`every number is what the ${events} events give; status: ${status}\n`);
  }
  if (differences.length > 0)
    throw new CliError(EXIT.failure, `${printable(folder)} is not what its events give`, { code: "not_reproduced" });
}

/** `koine bench compare BEFORE AFTER`. */
export async function compare(before: string, after: string, options: CompareOptions): Promise<void> {
  const output = createOutput(options.output);
  const { report } = options;
  if (report !== undefined && !/\.(html|md)$/.test(report))
    throw usageError(`--report ${printable(report)} ends neither in .html nor in .md`);
  const compared = await aboutFolder(async () => compareFolders(before, after, report));
  if (report !== undefined) output.say(`the comparison is in ${printable(report)}`);
  for (const note of compared.notes) output.say(printable(note));
  if (output.format === "json") await output.document(compared);
  else await output.text(`${renderChanges(compared.changes)}\n`);
}

/** Errors about folders are errors of usage: the user named a wrong or damaged one. */
export async function aboutFolder<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof WriteError) throw new CliError(EXIT.failure, thrown.message);
    throw thrown instanceof FolderError ? usageError(thrown.message) : thrown;
  }
}
