import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { compiled } from "../../programs.js";
import type { ReceivedMessage } from "./upstream.js";

/** A server in its own process, to be controlled and killed. */
export interface OwnProcess {
  readonly url: string;
  readonly port: number;
  /** The lines it printed after `ready`. */
  readonly output: readonly string[];
  /** Resolves with the first line, past or future, that starts so. */
  lineStarting(beginning: string): Promise<string>;
  /** Writes one line to its input. */
  writeLine(line: string): void;
  freeze(): void;
  thaw(): void;
  /** SIGKILL. Resolves when the process has exited. */
  kill(): Promise<void>;
}

const SAYING_MS = 20_000;
const running = new Set<ChildProcess>();

/** Starts a program of this folder with its options as JSON, and waits for `ready <url>`. */
export async function startProcess(program: "configured-gateway" | "gateway" | "upstream", facts: object): Promise<OwnProcess> {
  const argv = ["--expose-gc", compiled(`test/gateway/processes/${program}.ts`), JSON.stringify(facts)];
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  running.add(child);
  const gone = once(child, "exit").then(() => running.delete(child));
  // Lines written to an exited process are lost.
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout });
  const [ready] = await Promise.race([once(lines, "line"), gone.then(() => ["ended before it answered"])]);
  const [word, url = ""] = String(ready).split(" ");
  if (word !== "ready") throw new Error(`the ${program} ${ready}`);
  const output: string[] = [];
  const waiting = new Set<() => void>();
  lines.on("line", (line) => {
    output.push(line);
    for (const look of waiting) look();
  });
  return {
    url,
    port: Number(new URL(url).port),
    output,
    lineStarting: (beginning) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`the ${program} did not say ${JSON.stringify(beginning)}, only ${JSON.stringify(output)}`));
        }, SAYING_MS);
        const look = (): void => {
          const line = output.find((each) => each.startsWith(beginning));
          if (line === undefined) return;
          clearTimeout(late);
          waiting.delete(look);
          resolve(line);
        };
        waiting.add(look);
        look();
      }),
    writeLine: (line) => void child.stdin.write(`${line}\n`),
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Ends the processes that a test left running. */
export async function killProcesses(): Promise<void> {
  const ends = [...running].map((child) => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    return gone;
  });
  await Promise.all(ends);
}

/** The messages that the agent of a process received with this text, oldest first: one for each run. */
export function receivedBy({ output }: OwnProcess, text: string): readonly ReceivedMessage[] {
  return output
    .filter((line) => line.startsWith("heard "))
    .map((line): ReceivedMessage => JSON.parse(line.slice("heard ".length)))
    .filter((message) => message.text === text);
}
