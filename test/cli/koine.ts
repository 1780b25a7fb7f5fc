import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KOINE } from "../programs.js";
import { canShare, type Environment, type Outcome, runShared } from "./warm-koine.js";

/** The command line as users run it: processes, files and output. */

export type { Outcome } from "./warm-koine.js";

export function startKoine(args: readonly string[], env: Environment = {}): ChildProcess {
  return spawn(process.execPath, [...KOINE, ...args], { env: { PATH: process.env["PATH"], ...env }, stdio: "pipe" });
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => (stdout += chunk));
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null]; // the arguments of `close`
  return { code, stdout, stderr };
}

/** Runs one command to its end; with others in one process if it can be. */
export async function koine(args: readonly string[], env: Environment = {}): Promise<Outcome> {
  return canShare(args, env) ? runShared({ args, env: { PATH: process.env["PATH"] ?? "", ...env } }) : koineAlone(args, env);
}

/** Runs one command to its end, in a process of its own: what others kept in memory is not there. */
export async function koineAlone(args: readonly string[], env: Environment = {}): Promise<Outcome> {
  const child = startKoine(args, env);
  child.stdin?.end();
  return outcomeOf(child);
}

/** Resolves when the output of the child matches. */
export function seen(stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    stream?.on("data", (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) resolve(match[0]);
    });
    stream?.on("close", () => reject(new Error(`closed without ${pattern}: ${text}`)));
  });
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** `koine serve` on a free port, or on the given one. */
export async function serving(args: readonly string[], env: Environment = {}, port = 0): Promise<Serving> {
  const child = startKoine(["serve", ...args, "--port", String(port), "-o", "json"], env);
  let errors = "";
  child.stderr?.on("data", (chunk) => (errors += chunk));
  const line = await seen(child.stdout, /^\{.*\}$/m).catch(() => {
    throw new Error(`nothing is served: ${errors}`);
  });
  const ready = JSON.parse(line) as { readonly url: string; readonly port: number }; // the output of `serve -o json`
  return {
    ...ready,
    child,
    async stop(signal = "SIGTERM") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "close");
      child.kill(signal);
      await ended;
    },
  };
}

export interface Workspace {
  path(name: string): string;
  write(name: string, text: string): Promise<string>;
  /** Opens a gate that a step of the agent waits for. */
  openGate(): Promise<void>;
  readonly agent: string;
  clear(): Promise<void>;
}

/** A folder with an agent that names its caller, and that waits for a gate in the middle of an answer. */
export async function createWorkspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), "koine-journey-"));
  const path = (name: string): string => join(folder, name);
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(path(name), text, { mode: 0o600 });
    return path(name);
  };
  const agent = await write("agent.mjs", AGENT.replaceAll("FOLDER", JSON.stringify(folder)));
  return {
    path,
    write,
    agent,
    openGate: async () => void (await write("gate", "")),
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

const AGENT = `
import { appendFile, access } from "node:fs/promises";
import { join } from "node:path";

const there = (name) => access(join(FOLDER, name)).then(() => true, () => false);

export async function* handle(message, task) {
  if (message.text === "who") {
    yield task.working("looking");
    return task.owner;
  }
  await appendFile(join(FOLDER, "runs"), message.text + "\\n");
  if (message.text === "gate") {
    yield "before ";
    while (!(await there("gate")) && !task.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 20));
    yield "behind";
    return undefined;
  }
  yield task.working("writing it down");
  return "wrote " + message.text;
}
`;
