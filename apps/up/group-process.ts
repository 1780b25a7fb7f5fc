import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { UpClock } from "./clock.js";

export type OutputStream = "stdout" | "stderr";

export interface ProcessStart {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly lineCharacters: number;
  onLine(stream: OutputStream, line: string): void;
  /** Set for programs of ours: they tell what went wrong, and end when we are gone. */
  onMessage?(message: unknown): void;
}

const running = new Set<GroupProcess>();

/** Whatever way this process ends, nobody is left behind. */
process.on("exit", () => {
  for (const each of running) each.signal("SIGKILL");
});

/** A process in a group of its own, so that whatever it starts ends with it. No shell takes part. */
export class GroupProcess {
  readonly #child: ChildProcess;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  #over = false;

  constructor(start: ProcessStart) {
    const { command, cwd, env, onMessage } = start;
    const [program = "", ...args] = command;
    const stdio = onMessage === undefined ? (["ignore", "pipe", "pipe"] as const) : (["ignore", "pipe", "pipe", "ipc"] as const);
    this.#child = spawn(program, args, { cwd, env, detached: true, shell: false, stdio: [...stdio] });
    running.add(this);
    if (onMessage !== undefined) this.#child.on("message", onMessage);
    for (const stream of ["stdout", "stderr"] as const)
      readLines(this.#child[stream], start.lineCharacters, (line) => start.onLine(stream, line));
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (error: NodeJS.ErrnoException) =>
        resolve(this.#end(`cannot be started (${error.code ?? error.message})`)),
      );
      this.#child.once("exit", (code, signal) =>
        resolve(this.#end(signal === null ? `ended with code ${code}` : `was ended by ${signal}`)),
      );
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isOver(): boolean {
    return this.#over;
  }

  #end(how: string): string {
    // What it started and left behind is in the same group.
    this.signal("SIGKILL");
    this.#over = true;
    running.delete(this);
    return how;
  }

  /** To the whole group; one that is gone already hears nothing. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this;
    if (pid === undefined || this.#over) return;
    try {
      process.kill(-pid, name);
    } catch {
      // Nobody is left in the group.
    }
  }

  /** Asks it to end, and ends it when it does not in time. */
  async stop(drainMs: number, clock: UpClock): Promise<void> {
    if (this.#over) return;
    this.signal("SIGTERM");
    const takeBack = clock.after(drainMs, () => this.signal("SIGKILL"));
    await this.ended;
    takeBack();
  }
}

/** Line by line, each cut to a length, whatever a program writes. */
function readLines(stream: Readable | null, most: number, onLine: (line: string) => void): void {
  if (stream === null) return;
  let begun = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = chunk.split(/\r?\n/);
    const last = lines.pop() ?? "";
    for (const line of lines) {
      onLine((begun + line).slice(0, most));
      begun = "";
    }
    begun = (begun + last).slice(0, most);
  });
  stream.on("close", () => {
    if (begun !== "") onLine(begun);
  });
}
