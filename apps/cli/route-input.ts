import { open } from "node:fs/promises";
import { AgentError } from "../../src/index.js";
import {
  type CapabilityId,
  capabilityNamed,
  type Excluded,
  type Features,
  parseScenarioText,
  type ReadScenarios,
  SCENARIO_FILE_BYTES,
  type Scenario,
} from "../../src/router/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { wordsIn } from "./option-values.js";
import type { Output } from "./output.js";
import { printable } from "./printable.js";

/** Limit of reported exclusions. */
const MAX_REPORTED = 20;
const MAX_FILES = 1_000;

export interface InputOptions {
  readonly text?: string;
  readonly requires?: string;
  readonly skipMalformed?: boolean;
}

type Stdin = AsyncIterable<string | Uint8Array>;

/** Where scenarios are read from, and the known protocols. */
interface Sources {
  readonly rows: readonly Features[];
  readonly stdin: Stdin;
  readonly output: Output;
}

/** The scenarios of the files, or the one module of the command line. */
export async function readInput(
  files: readonly string[],
  options: InputOptions,
  { rows, stdin, output }: Sources,
): Promise<readonly Scenario[]> {
  const described = options.text !== undefined || options.requires !== undefined;
  if (described && files.length > 0) throw usageError("--text and --requires describe one module; a file has its own");
  if (described) return [oneModule(options)];
  if (files.length === 0)
    throw usageError(
      "there is nothing to route",
      "Give a scenario file, - for stdin, or --text; --schema shows what a file holds.",
    );
  if (files.length > MAX_FILES) throw usageError(`${files.length} files are too many at once: at most ${MAX_FILES}`);
  if (files.filter((file) => file === "-").length > 1) throw usageError("stdin can be read only once");
  const read: ReadScenarios[] = [];
  for (const file of files) read.push(await readScenarioFile(file, rows, stdin));
  judge(
    read.flatMap(({ excluded }) => excluded),
    options,
    output,
  );
  const scenarios = read.flatMap((each) => each.scenarios);
  if (scenarios.length === 0) throw new CliError(EXIT.failure, "no scenario is left to route", { code: "malformed" });
  return scenarios;
}

function oneModule({ text, requires }: InputOptions): Scenario {
  if (text?.trim() === "") throw usageError("--text is empty");
  if (text !== undefined && text.length > SCENARIO_FILE_BYTES) throw usageError("--text is too long");
  const passages = text === undefined ? [] : [{ kind: "need", text } as const];
  const needs = requires === undefined ? undefined : wordsIn(requires, "--requires").map(capabilityOf);
  return { id: "text", description: "", modules: [{ id: "text-M1", passages, requires: needs }] };
}

function capabilityOf(word: string): CapabilityId {
  const id = capabilityNamed(word);
  if (id === undefined)
    throw usageError(`--requires: ${JSON.stringify(word)} is no capability`, "`koine route --capabilities` lists them.");
  return id;
}

async function readScenarioFile(file: string, rows: readonly Features[], stdin: Stdin): Promise<ReadScenarios> {
  const name = file === "-" ? "stdin" : file;
  const text = file === "-" ? await decode(stdin, name) : await readTextFile(file);
  const { scenarios, excluded } = await named(name, () => parseScenarioText(text, name, { rows }));
  return { scenarios, excluded: excluded.map((each) => ({ ...each, where: `${name}: ${each.where}` })) };
}

/** A file or pipe as UTF-8 text, within the size limit. */
export async function readTextFile(path: string): Promise<string> {
  const handle = await open(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  try {
    if ((await handle.stat()).isDirectory()) throw usageError(`${path} is a folder`);
    return await decode(handle.createReadStream({ autoClose: false }), path);
  } finally {
    await handle.close();
  }
}

async function decode(source: Stdin, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > SCENARIO_FILE_BYTES)
      throw new CliError(EXIT.failure, `${name} is too large: it may have ${SCENARIO_FILE_BYTES / 1024 / 1024} MiB`, {
        code: "too_large",
      });
    chunks.push(bytes);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CliError(EXIT.failure, `${name} is not UTF-8 text`, { code: "decode" });
  }
}

/** Adds the name of the file to errors, and drops hints that are about calling an agent. */
export async function named<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    throw new CliError(EXIT.failure, `${name}: ${thrown.message}`, { code: thrown.code });
  }
}

/** Malformed scenarios are excluded whole; without --skip-malformed they are an error. */
function judge(excluded: readonly Excluded[], { skipMalformed = false }: InputOptions, output: Output): void {
  const [first] = excluded;
  if (first === undefined) return;
  if (!skipMalformed) {
    const more = excluded.length === 1 ? "" : `; and ${excluded.length - 1} more`;
    throw new CliError(EXIT.failure, `${sentence(first)}${more}`, {
      code: "malformed",
      hint: "--skip-malformed leaves such scenarios out and routes the others.",
    });
  }
  for (const each of excluded.slice(0, MAX_REPORTED)) output.say(printable(`left out: ${sentence(each)}`));
  if (excluded.length > MAX_REPORTED) output.say(`left out: ${excluded.length - MAX_REPORTED} more`);
}

function sentence({ scenario_id: id, where, because }: Excluded): string {
  return `${where} ${because}${id === undefined ? "" : ` (scenario ${id})`}`;
}
