import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Program } from "./tasks.js";

/** The end of what a program printed that is shown in an error. */
const PRINTED_CHARS = 2_000;

export interface ProgramEnd {
  readonly how: string;
  readonly printed: string;
}

/**
 * A program that is spoken to in lines of JSON: requests on its standard input, answers on its standard output. It ends when its input
 * does, so it never outlives its parent.
 */
export class ProgramLines {
  readonly ended: Promise<ProgramEnd>;
  readonly #child: ChildProcess;
  #printed = "";
  #listener: (line: unknown) => void = () => undefined;

  private constructor({ command, args }: Program) {
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#printed = `${this.#printed}${text}`.slice(-PRINTED_CHARS);
    });
    this.#child.stdin?.on("error", () => undefined);
    if (this.#child.stdout !== null) createInterface({ input: this.#child.stdout }).on("line", (line) => this.#take(line));
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => resolve({ how, printed: this.#printed.trim() });
      this.#child.on("close", (code, signal) => end(signal ?? String(code)));
      this.#child.on("error", (error) => end(error.message));
    });
  }

  /** Resolves when the program has printed its first line: it is ready. */
  static async start(program: Program, withinMs: number): Promise<ProgramLines> {
    const lines = new ProgramLines(program);
    await lines.#next(withinMs);
    return lines;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  onLine(listener: (line: unknown) => void): void {
    this.#listener = listener;
  }

  write(line: object): void {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  /** Writes a line and waits for the next one. Not while other answers are outstanding. */
  async request(line: object, withinMs = 60_000): Promise<unknown> {
    const before = this.#listener;
    const next = this.#next(withinMs);
    this.write(line);
    try {
      return await next;
    } finally {
      this.#listener = before;
    }
  }

  stop(): void {
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
  }

  #next(withinMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#child.kill("SIGKILL");
        reject(new Error(`the program ${this.#child.spawnfile} was silent for ${withinMs} ms: ${this.#printed}`));
      }, withinMs);
      void this.ended.then(({ how, printed }) => {
        clearTimeout(timer);
        reject(new Error(`the program ${this.#child.spawnfile} ended (${how}): ${printed}`));
      });
      this.#listener = (line) => {
        clearTimeout(timer);
        resolve(line);
      };
    });
  }

  #take(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Libraries print what they like; only our own lines are JSON.
      this.#printed = `${this.#printed}${line}\n`.slice(-PRINTED_CHARS);
      return;
    }
    this.#listener(value);
  }
}
