import { type FileHandle, open } from "node:fs/promises";
import { type CapturedMessage, followFeed, type InspectedHost } from "../../src/public/inspect.js";
import { CliError, EXIT } from "./exit.js";
import { filterOf, type InspectFilterOptions, type LookOptions, look } from "./inspect.js";
import { createOutput, type Format, type Output } from "./output.js";
import { problemOf } from "./problem.js";
import { answerLine, requestLine } from "./record-lines.js";

interface RecordOptions extends LookOptions, InspectFilterOptions {
  readonly output: Format;
  readonly to: string;
  /** Milliseconds. */
  readonly for?: number;
  readonly count?: number;
}

/** Exchanges whose answer is waited for; the oldest is given up. */
const MOST_OPEN = 100_000;
const OWNER_ONLY = 0o600;

export async function record(url: string, options: RecordOptions): Promise<void> {
  const output = createOutput(options.output);
  const file = await openForLines(options.to);
  const recorder = new Recorder(file, options.count);
  try {
    await look(url, options, (host) => run(host, options, recorder, output), options.for);
  } finally {
    await file.close();
  }
  const { exchanges, lines } = recorder;
  if (output.format === "json") await output.document({ file: options.to, exchanges, lines });
  else output.say(`${exchanges} exchanges, ${lines} lines written to ${options.to}`);
}

async function run(host: InspectedHost, options: RecordOptions, recorder: Recorder, output: Output): Promise<void> {
  // What was forwarded would be in the file twice; what callers said is the conversation.
  const filter = { ...filterOf(options), direction: options.direction ?? ("in" as const) };
  for await (const item of followFeed(host, filter)) {
    if (item.kind === "message") await recorder.see(item.message);
    else if (item.kind === "gap") output.say(output.colors.yellow(`at least ${item.missed} messages are missing from the file`));
    else if (item.kind === "cut") output.say(output.colors.dim(`${item.error.message}; trying again`));
    else if (output.format === "text") output.say(output.colors.dim(`Recording ${host.url}. Ctrl-C ends it.`));
    if (recorder.isFull) return;
  }
}

/** Each request once when it is seen, each answer once when it is there. */
class Recorder {
  readonly #file: FileHandle;
  readonly #most: number;
  readonly #open = new Set<string>();
  readonly #over = new Set<string>();
  exchanges = 0;
  lines = 0;

  constructor(file: FileHandle, most = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#most = most;
  }

  get isFull(): boolean {
    return this.exchanges >= this.#most;
  }

  async see(sighting: CapturedMessage): Promise<void> {
    const { id } = sighting;
    if (this.#over.has(id)) return;
    const asked = this.#open.has(id) ? undefined : requestLine(sighting);
    const answered = answerLine(sighting);
    remember(this.#open, id);
    if (answered !== undefined) {
      this.#open.delete(id);
      remember(this.#over, id);
      this.exchanges++;
    }
    await this.#write([asked, answered].filter((line) => line !== undefined));
  }

  /** Whole lines in one write: whoever reads or ends meanwhile never has half of one. */
  async #write(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    await this.#file.appendFile(`${lines.join("\n")}\n`);
    this.lines += lines.length;
  }
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size > MOST_OPEN) ids.delete(ids.values().next().value ?? "");
}

/** At its end, on a line of our own even where another process was cut off in the middle of one. */
async function openForLines(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, "a+", OWNER_ONLY);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      if (size > 0 && bytesRead === 1 && buffer[0] !== 0x0a) await file.appendFile("\n");
      return file;
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  } catch (thrown) {
    throw new CliError(EXIT.failure, `${path} cannot be written: ${problemOf(thrown).message}`, {
      hint: "Give another file with --to.",
    });
  }
}
