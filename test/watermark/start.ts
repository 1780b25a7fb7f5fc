import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { exited } from "../child-process.js";
import { compiled } from "../programs.js";

/** A process of this folder: what it printed, and questions to it. */
export interface Watched {
  readonly pid: number;
  /** What `ready` was followed by. */
  readonly ready: string;
  /** Everything it printed. */
  readonly log: readonly string[];
  /** Writes a line, and resolves with the next line it prints. */
  ask(line: string): Promise<string>;
  end(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Starts a program of this folder, or that of a path. */
export async function startWatched(program: "agent" | "gateway" | "caller" | `test/${string}`, facts: object): Promise<Watched> {
  const path = program.startsWith("test/") ? program : `test/watermark/processes/${program}.ts`;
  const child = spawn(process.execPath, [compiled(path)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  const log: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`the ${program} ended: ${log.join("\n")}`);
    log.push(value);
    return value;
  };
  child.stdin.write(`${JSON.stringify(facts)}\n`);
  const ready = await next();
  if (!ready.startsWith("ready") || child.pid === undefined) throw new Error(`the ${program} printed ${ready}`);
  return {
    pid: child.pid,
    ready: ready.slice("ready ".length),
    log,
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    async end() {
      child.kill("SIGKILL");
      await exited(child);
      running.delete(child);
    },
  };
}

/** Ends what a test left running. */
export async function endWatched(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      child.kill("SIGKILL");
      await exited(child);
      running.delete(child);
    }),
  );
}
