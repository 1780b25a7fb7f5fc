import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environmentFolder, interpreterIn } from "../../tools/python-cache.mjs";
import { exited } from "../child-process.js";
import type { OfficialServer } from "../peers/official.js";

/** The name of an environment in environments.json. */
export type Environment =
  | "a2a-0.3.3"
  | "a2a-1.3.0"
  | "acp-1.0.3"
  | "agent-connect-0.3.5"
  | "agora-0.2.0"
  | "anp-1.0.7"
  | "google-adk-2.13.0"
  | "opentelemetry-proto-1.45.2"
  | "pydantic-ai-2.66.0";

/** A script in python/ and the environment it runs in. */
export interface Script {
  readonly environment: Environment;
  /** The file name without its extension. */
  readonly file: string;
}

const START_MS = 30_000;
const STOP_MS = 5_000;
/** Timeout of a whole scripted conversation. */
const TALK_MS = 180_000;

/** The interpreter of one environment, or undefined where none could be built. */
export function pythonFor(environment: Environment): string | undefined {
  const requirements = readFileSync(join("test", "interop", `requirements-${environment}.txt`), "utf8");
  const folder = environmentFolder(environment, requirements);
  return existsSync(join(folder, "built-with")) ? interpreterIn(folder) : undefined;
}

function start({ environment, file }: Script, args: readonly string[]): ChildProcess {
  const script = join("test", "interop", "python", `${file}.py`);
  // A server stops when its standard input ends, so it never outlives this process.
  return spawn(pythonFor(environment) ?? "python3", ["-u", script, ...args], { stdio: ["pipe", "pipe", "pipe"] });
}

/** Starts a server of an official library. It prints its port on its first line. */
export function startPython(script: Script, ...args: readonly string[]): Promise<OfficialServer> {
  return startProgram(start(script, args));
}

/** The same for a program in any language. */
export async function startProgram(child: ChildProcess): Promise<OfficialServer> {
  const printed = collectText(child.stderr);
  const port = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the server did not start within ${START_MS} ms: ${printed()}`));
    }, START_MS);
    exited(child).then(() => {
      clearTimeout(timer);
      reject(new Error(`the server exited: ${printed()}`));
    }, reject);
    createInterface({ input: child.stdout ?? process.stdin }).once("line", (line) => {
      clearTimeout(timer);
      resolve(line);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.stdin?.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await exited(child);
      clearTimeout(timer);
    },
  };
}

/** Runs the scripted conversation of an official client and returns its result for each check. */
export function runScript(script: Script, ...args: readonly string[]): Promise<{ readonly [check: string]: unknown }> {
  return runProgram(start(script, args));
}

/** The same for a program in any language. */
export async function runProgram(child: ChildProcess): Promise<{ readonly [check: string]: unknown }> {
  const output = collectText(child.stdout);
  const printed = collectText(child.stderr);
  const timer = setTimeout(() => child.kill("SIGKILL"), TALK_MS);
  const status = await new Promise<number | null>((resolve, reject) => child.once("close", resolve).once("error", reject));
  clearTimeout(timer);
  if (status !== 0) throw new Error(`the client exited with ${status}: ${printed()}\n${output()}`);
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
