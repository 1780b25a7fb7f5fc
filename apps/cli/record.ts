import { type FileHandle, open } from "node:fs/promises";
import { type CapturedMessage, followFeed, type InspectedHost } from "../../src/public/inspect.js";
import { CliError, EXIT } from "./exit.js";
import { filterOf, type HostOptions, type InspectFilterOptions, withHost } from "./inspect.js";
import { createOutput, type Format, type Output } from "./output.js";
import { problemOf } from "./problem.js";
import { answerLine, requestLine } from "./record-lines.js";

interface RecordOptions extends HostOptions, InspectFilterOptions {
  readonly output: Format;
  readonly to: string;
  /** Milliseconds. */
  readonly for?: number;
  readonly count?: number;
}

/** Limit of exchanges that wait for their answer; beyond it the oldest is dropped. */
const MAX_OPEN = 100_000;
const OWNER_ONLY = 0o600;

export async function record(url: string, options: RecordOptions): Promise<void> {
  const output = createOutput(options.output);
  const file = await openForLines(options.to);
  const recorder = new Recorder(file, options.count);
  try {
    await withHost(url, options, (host) => run(host, options, recorder, output), options.for);
  } finally {
    await file.close();
  }
  const { exchanges, lines } = recorder;
  if (output.format === "json") await output.document({ file: options.to, exchanges, lines });
  else output.say(`${exchanges} exchanges, ${lines} lines written to ${options.to}`);
}

async function run(host: InspectedHost, options: RecordOptions, recorder: Recorder, output: Output): Promise<void> {
  // Only inbound calls: a forwarded message would be in the file twice.
  const filter = { ...filterOf(options), direction: options.direction ?? ("in" as const) };
  for await (const item of followFeed(host, filter)) {
    if (item.kind === "message") await recorder.record(item.message);
    else if (item.kind === "gap") output.say(output.colors.yellow(`at least ${item.missed} messages are missing from the file`));
    else if (item.kind === "cut") output.say(output.colors.dim(`${item.error.message}; reconnecting`));
    else if (output.format === "text") output.say(output.colors.dim(`Recording ${host.url}. Press Ctrl-C to stop.`));
    if (recorder.isFull) return;
  }
}

/** Writes each request once when it arrives, and each answer once when it is complete. */
class Recorder {
  readonly #file: FileHandle;
  readonly #max: number;
  readonly #open = new Set<string>();
  readonly #over = new Set<string>();
  exchanges = 0;
  lines = 0;

  constructor(file: FileHandle, max = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#max = max;
  }

  get isFull(): boolean {
    return this.exchanges >= this.#max;
  }

  async record(captured: CapturedMessage): Promise<void> {
    const { id } = captured;
    if (this.#over.has(id)) return;
    const asked = this.#open.has(id) ? undefined : requestLine(captured);
    const answered = answerLine(captured);
    remember(this.#open, id);
    if (answered !== undefined) {
      this.#open.delete(id);
      remember(this.#over, id);
      this.exchanges++;
    }
    await this.#write([asked, answered].filter((line) => line !== undefined));
  }

  /** Whole lines in one write, so that readers never see half a line. */
  async #write(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    await this.#file.appendFile(`${lines.join("\n")}\n`);
    this.lines += lines.length;
  }
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size > MAX_OPEN) ids.delete(ids.values().next().value ?? "");
}

/** Opens for appending, on a new line even if the last one is incomplete. */
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
