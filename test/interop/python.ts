import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { OfficialServer } from "../peers/official.js";

export type SdkVersion = "0.3.3" | "1.3.0";

const SCRIPTS: { readonly [version in SdkVersion]: string } = { "0.3.3": "03", "1.3.0": "10" };
const START_MS = 30_000;

/** The interpreter of one environment, or undefined where none could be built. */
export function pythonFor(version: SdkVersion): string | undefined {
  const folder = join(".cache", "interop", `a2a-${version}`);
  const python = join(folder, process.platform === "win32" ? "Scripts" : "bin", "python");
  return existsSync(join(folder, "built-from")) && existsSync(python) ? python : undefined;
}

function start(version: SdkVersion, role: "client" | "server", args: readonly string[]): ChildProcess {
  const script = join("test", "interop", "python", `${role}_${SCRIPTS[version]}.py`);
  // Its standard input stays open as long as we live: the server stops when it ends.
  return spawn(pythonFor(version) ?? "python3", ["-u", script, ...args], { stdio: ["pipe", "pipe", "pipe"] });
}

/** The official Python server, which says its port on its first line. */
export async function startPython(version: SdkVersion): Promise<OfficialServer> {
  const child = start(version, "server", []);
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

/** Runs the scripted conversation of the official Python client, and returns what it saw at each check. */
export async function talk(version: SdkVersion, ...args: string[]): Promise<{ readonly [check: string]: unknown }> {
  const child = start(version, "client", args);
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
