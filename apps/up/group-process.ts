import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { UpClock } from "./clock.js";

/** The output stream of a process. */
export type OutputStream = "stdout" | "stderr";

export interface ProcessStart {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly lineCharacters: number;
  onLine(stream: OutputStream, line: string): void;
  /** Set for our own child program, which reports errors and exits when the parent disconnects. */
  onMessage?(message: unknown): void;
}

const running = new Set<GroupProcess>();

/** Leaves no orphans, however this process ends. */
process.on("exit", () => {
  for (const each of running) each.signal("SIGKILL");
});

/** A process in its own group, so that its children end with it. No shell is involved. */
export class GroupProcess {
  readonly #child: ChildProcess;
  /** Resolves with a description of how it ended. */
  readonly ended: Promise<string>;
  #hasEnded = false;

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
        resolve(this.#end(signal === null ? `exited with code ${code}` : `was killed by ${signal}`)),
      );
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  #end(how: string): string {
    // Also ends children that it left behind.
    this.signal("SIGKILL");
    this.#hasEnded = true;
    running.delete(this);
    return how;
  }

  /** Signals the whole group, if it still runs. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this;
    if (pid === undefined || this.#hasEnded) return;
    try {
      process.kill(-pid, name);
    } catch {
      // The group is empty.
    }
  }

  /** Sends SIGTERM, then SIGKILL after the drain time. */
  async stop(drainMs: number, clock: UpClock): Promise<void> {
    if (this.#hasEnded) return;
    this.signal("SIGTERM");
    const cancelTimer = clock.after(drainMs, () => this.signal("SIGKILL"));
    await this.ended;
    cancelTimer();
  }
}

/** Reads lines, truncated to a maximum length. */
function readLines(stream: Readable | null, most: number, onLine: (line: string) => void): void {
  if (stream === null) return;
  let pending = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = chunk.split(/\r?\n/);
    const last = lines.pop() ?? "";
    for (const line of lines) {
      onLine((pending + line).slice(0, most));
      pending = "";
    }
    pending = (pending + last).slice(0, most);
  });
  stream.on("close", () => {
    if (pending !== "") onLine(pending);
  });
}
