import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { OfficialServer } from "../peers/official.js";

/** An environment of environments.json. */
export type Environment = "a2a-0.3.3" | "a2a-1.3.0" | "acp-1.0.3" | "agora-0.2.0";

/** One of our scripts, and the environment it runs in. */
export interface Script {
  readonly environment: Environment;
  /** The name of a file in python/, without its ending. */
  readonly file: string;
}

const START_MS = 30_000;

/** The interpreter of one environment, or undefined where none could be built. */
export function pythonFor(environment: Environment): string | undefined {
  const folder = join(".cache", "interop", environment);
  const python = join(folder, process.platform === "win32" ? "Scripts" : "bin", "python");
  return existsSync(join(folder, "built-from")) && existsSync(python) ? python : undefined;
}

function start({ environment, file }: Script, args: readonly string[]): ChildProcess {
  const script = join("test", "interop", "python", `${file}.py`);
  // Its standard input stays open as long as we live: a server stops when it ends.
  return spawn(pythonFor(environment) ?? "python3", ["-u", script, ...args], { stdio: ["pipe", "pipe", "pipe"] });
}

/** A server of an official library, which says its port on its first line. */
export async function startPython(script: Script, ...args: readonly string[]): Promise<OfficialServer> {
  const child = start(script, args);
  const printed = collectText(child.stderr);
  const port = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the Python server did not start: ${printed()}`)), START_MS);
    child.once("exit", () => reject(new Error(`the Python server ended: ${printed()}`)));
    createInterface({ input: child.stdout ?? process.stdin }).once("line", (line) => {
      clearTimeout(timer);
      resolve(line);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.removeAllListeners("exit");
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Runs the scripted conversation of an official client, and returns what it saw at each check. */
export async function talk(script: Script, ...args: readonly string[]): Promise<{ readonly [check: string]: unknown }> {
  const child = start(script, args);
  const output = collectText(child.stdout);
  const printed = collectText(child.stderr);
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`the Python client ended with ${status}: ${printed()}\n${output()}`);
  const lines = output().trim().split("\n");
  return Object.fromEntries(lines.map((line): [string, unknown] => readCheck(JSON.parse(line))));
}

function readCheck(value: unknown): [string, unknown] {
  const { check, got } = value as { check: string; got: unknown }; // written by our own script
  return [check, got];
}

function collectText(stream: NodeJS.ReadableStream | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
