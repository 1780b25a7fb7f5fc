import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { compiled } from "../../programs.js";
import type { Heard } from "./upstream.js";

/** A server in a process of its own, to be talked to and to be killed. */
export interface OwnProcess {
  readonly url: string;
  readonly port: number;
  /** The lines it wrote since it is ready. */
  readonly said: readonly string[];
  /** Resolves with the first line, said or still to come, that begins so. */
  saying(beginning: string): Promise<string>;
  /** One line to its input. */
  tell(line: string): void;
  freeze(): void;
  thaw(): void;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
}

const SAYING_MS = 20_000;
const running = new Set<ChildProcess>();

/** Starts a program of this folder with its facts as JSON, and waits until it says `ready <url>`. */
export async function startProcess(program: "gateway" | "upstream", facts: object): Promise<OwnProcess> {
  const argv = ["--expose-gc", compiled(`test/gateway/processes/${program}.ts`), JSON.stringify(facts)];
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  running.add(child);
  const gone = once(child, "exit").then(() => running.delete(child));
  // What is told to a process that is gone is lost with it.
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout });
  const [ready] = await Promise.race([once(lines, "line"), gone.then(() => ["ended before it answered"])]);
  const [word, url = ""] = String(ready).split(" ");
  if (word !== "ready") throw new Error(`the ${program} ${ready}`);
  const said: string[] = [];
  const waiting = new Set<() => void>();
  lines.on("line", (line) => {
    said.push(line);
    for (const look of waiting) look();
  });
  return {
    url,
    port: Number(new URL(url).port),
    said,
    saying: (beginning) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`the ${program} did not say ${JSON.stringify(beginning)}, only ${JSON.stringify(said)}`));
        }, SAYING_MS);
        const look = (): void => {
          const line = said.find((each) => each.startsWith(beginning));
          if (line === undefined) return;
          clearTimeout(late);
          waiting.delete(look);
          resolve(line);
        };
        waiting.add(look);
        look();
      }),
    tell: (line) => void child.stdin.write(`${line}\n`),
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Ends whatever a test has left running. */
export async function killProcesses(): Promise<void> {
  const ends = [...running].map((child) => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    return gone;
  });
  await Promise.all(ends);
}

/** What the agent of a process was told with this text, oldest first: one for each run. */
export function heardBy({ said }: OwnProcess, text: string): readonly Heard[] {
  return said
    .filter((line) => line.startsWith("heard "))
    .map((line): Heard => JSON.parse(line.slice("heard ".length)))
    .filter((heard) => heard.text === text);
}
