import { join } from "node:path";
import {
  compareFolders,
  FILES,
  FolderError,
  readEvents,
  readMemories,
  renderChanges,
  safety,
  verifyFolder,
  WriteError,
} from "../../bench/protocols/index.js";
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
export async function verify(folder: string, options: FolderOptions): Promise<void> {
  const output = createOutput(options.output);
  const found = await aboutFolder(async () =>
    safety.isSafetyFolder(folder) ? safety.verifySafetyFolder(folder) : verifyFolder(folder),
  );
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

/** `koine bench memory DIR [TASK]`. */
export async function memory(folder: string, task: string | undefined, options: FolderOptions): Promise<void> {
  const output = createOutput(options.output);
  const found = await aboutFolder(async () => {
    const { events } = await readEvents(join(folder, FILES.events)).catch((thrown: unknown) => {
      throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
    });
    return readMemories(events, task).catch((thrown: unknown) => {
      throw new FolderError(thrown instanceof Error ? thrown.message : String(thrown));
    });
  });
  if (found.length === 0) throw usageError(`${printable(folder)} has no question ${printable(task ?? "")}`.trim());
  if (output.format === "json") await output.document(found);
  else
    for (const { run, arm, task_id, summary, replayed, differences } of found) {
      const again = `replayed: ${replayed ?? "none"}${differences.length === 0 ? "" : `; ${differences.join("; ")}`}`;
      await output.text(`${printable(`${run} ${arm} ${task_id}: ${summary}`)}\n  ${printable(again)}\n`);
    }
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
