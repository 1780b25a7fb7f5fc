import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { CommandReply, Usage } from "./worker.js";

/** A bench process as the driver sees it. */
export interface Worker {
  readonly name: string;
  readonly pid: number;
  /** Fails after `withinMs`; the default is two minutes. */
  ask<T>(command: string, argument?: unknown, withinMs?: number): Promise<T>;
  usage(): Promise<Usage>;
  signal(signal: NodeJS.Signals): void;
  stop(): void;
  /** How it ended: an exit code, or the name of a signal. */
  readonly ended: Promise<string>;
}

export interface WorkerOptions {
  /** The core that it is pinned to. Default: none. */
  readonly core?: number | undefined;
  /** Called with what the process sends on its own. */
  readonly onNote?: ((note: unknown) => void) | undefined;
  /** Written before the command line, for example `ip netns exec NAME`. */
  readonly within?: readonly string[] | undefined;
}

/** Which cores the two sides of a measurement get. Undefined: not pinned. */
export interface Cores {
  readonly server: number | undefined;
  readonly load: number | undefined;
}

/** A command that takes longer is considered hung. */
const COMMAND_MS = 120_000;

const running = new Set<ChildProcess>();

/** Two different cores for pinning, if there are two and `taskset` is available. */
export function findCores(): Cores {
  const allowed = allowedCores();
  const [server, load] = allowed;
  if (load === undefined || spawnSync("taskset", ["--version"]).status !== 0) return { server: undefined, load: undefined };
  return { server, load };
}

let node = process.execPath;

/** From now on workers run on this Node. Returns its version. */
export function runWorkersOn(path: string): string {
  const { status, stdout, error } = spawnSync(path, ["--version"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${path} is no Node that runs here: ${error?.message ?? `exit code ${status}`}`);
  node = path;
  return stdout.trim();
}

/** Starts a compiled worker file in its own process. */
export function startWorker(name: string, file: string, { core, onNote, within = [] }: WorkerOptions = {}): Worker {
  const argv = [...within, ...(core === undefined ? [] : ["taskset", "-c", String(core)]), node, "--expose-gc", file];
  const [command = node, ...rest] = argv;
  // Worker output goes to stderr, so that stdout is only data.
  const child = spawn(command, rest, {
    stdio: ["ignore", 2, 2, "ipc"],
    serialization: "advanced",
    env: { ...process.env, NODE_ENV: "production" },
  });
  running.add(child);
  const pending = new Map<number, (reply: CommandReply) => void>();
  let lastId = 0;
  let how: string | undefined;
  child.on("message", (message) => {
    if (isReply(message)) pending.get(message.id)?.(message);
    else onNote?.(message);
  });
  const ended = new Promise<string>((resolve) => {
    const end = (reason: string): void => {
      how ??= reason;
      running.delete(child);
      for (const [id, settle] of pending) settle({ id, error: `the process ended (${how})` });
      resolve(how);
    };
    child.on("exit", (code, signal) => end(signal ?? String(code)));
    child.on("error", (error) => end(error.message));
  });
  const ask = <T>(commandName: string, argument?: unknown, withinMs = COMMAND_MS): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      const timer = setTimeout(() => settle({ id, error: `no reply within ${withinMs} ms` }), withinMs);
      const settle = (reply: CommandReply) => {
        clearTimeout(timer);
        pending.delete(id);
        // The value's type is fixed by the command, both sides of this bench.
        if ("error" in reply) reject(new Error(`${name} ${commandName}: ${reply.error}`));
        else resolve(reply.value as T);
      };
      pending.set(id, settle);
      if (how !== undefined) return settle({ id, error: `the process ended (${how})` });
      child.send({ id, name: commandName, argument }, (failed) => {
        if (failed) settle({ id, error: failed.message });
      });
    });
  return {
    name,
    pid: child.pid ?? 0,
    ask,
    usage: () => ask<Usage>("usage"),
    signal: (signal) => void child.kill(signal),
    stop: () => void child.kill("SIGKILL"),
    ended,
  };
}

function isReply(message: unknown): message is CommandReply {
  return typeof message === "object" && message !== null && "id" in message && ("value" in message || "error" in message);
}

/** Kills every process that this driver started. */
export function stopAllWorkers(): void {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
}

/** Kills the workers however the driver exits. */
export function stopWorkersOnExit(): void {
  process.on("exit", stopAllWorkers);
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => {
      stopAllWorkers();
      process.exit(code);
    });
  }
}

function allowedCores(): readonly number[] {
  try {
    const line = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return expandCores(line);
  } catch {
    return [];
  }
}

/** `0-2,5` → 0, 1, 2, 5. */
export function expandCores(list: string): readonly number[] {
  return list
    .split(",")
    .filter((range) => /^\d+(-\d+)?$/.test(range))
    .flatMap((range) => {
      const [low = 0, high = low] = range.split("-").map(Number);
      return Array.from({ length: high - low + 1 }, (_, index) => low + index);
    });
}
