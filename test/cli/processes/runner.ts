import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

/**
 * Runs commands one after the other in one process: a fresh process spends more on loading modules than on a command. Each run
 * evaluates the entry point, the first argument, anew, with arguments, environment and streams of its own; the modules behind it stay loaded.
 */

export interface CommandRun {
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
}

const ENTRY = process.argv[2] ?? "";
const exit = process.exit.bind(process);
let runs = 0;

process.on("disconnect", () => exit(0));
process.on("message", (wanted: CommandRun) => {
  void run(wanted).then((outcome) => process.send?.(outcome));
});

async function run({ args, env }: CommandRun): Promise<object> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.argv[0] ?? "", ENTRY, ...args];
  const stdout = new Kept();
  const stderr = new Kept();
  const streams = { stdout, stderr, stdin: Readable.from([]) };
  for (const [name, value] of Object.entries(streams)) Object.defineProperty(process, name, { value, configurable: true });
  const exited = new Promise<number>((resolve) => {
    Object.defineProperty(process, "exit", { value: (code?: number) => resolve(code ?? 0), configurable: true });
  });
  await import(`${pathToFileURL(ENTRY)}?run=${++runs}`);
  return { code: await exited, stdout: stdout.text(), stderr: stderr.text() };
}

class Kept extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
