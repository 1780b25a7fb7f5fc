import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exited } from "./child-process.js";

/** When Redis writes acknowledged data to disk. */
export interface RedisServerOptions {
  readonly appendfsync?: "always" | "everysec" | "no";
}

/** A private Redis on a free loopback port. Its data folder is removed with it. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Where it writes its data: every command, in clear. */
  readonly folder: string;
  /** Of the current process; changes with `restart`. */
  readonly pid: number;
  /** SIGKILL by default. Resolves when the process has exited. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** On the same port and with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 15_000;
/** How long Redis may take to exit on SIGTERM. */
const STOP_MS = 10_000;
const PROGRAM = "redis-server";

/** Whether there is a Redis to test with. Only the global setup installs one: a test file that waited for it has no time limit. */
export async function redisAvailable(): Promise<boolean> {
  if (isRedisInstalled()) return true;
  if (process.env["CI"]) throw new Error(`${PROGRAM} is not on the path and could not be installed`);
  process.stderr.write(`\n*** SKIPPED: ${PROGRAM} is not on the path. Install it to run the tests of the Redis store. ***\n\n`);
  return false;
}

export function isRedisInstalled(): boolean {
  return spawnSync(PROGRAM, ["--version"], { stdio: "ignore", timeout: READY_MS }).status === 0;
}

/** Starts a Redis and waits until it accepts connections. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = new OwnRedis(await freePort(), mkdtempSync(join(tmpdir(), "koine-redis-")), options.appendfsync ?? "everysec");
  await server.restart();
  return server;
}

class OwnRedis implements RedisServer {
  readonly port: number;
  readonly folder: string;
  readonly #appendfsync: string;
  #process: ChildProcess | undefined;

  constructor(port: number, folder: string, appendfsync: string) {
    this.port = port;
    this.folder = folder;
    this.#appendfsync = appendfsync;
    process.once("exit", this.#atExit);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error("Redis is not running");
    return pid;
  }

  async restart(): Promise<void> {
    await this.kill("SIGTERM");
    // No configuration file is read: other settings are Redis's defaults on every machine.
    const settings = [
      ["bind", "127.0.0.1"],
      ["port", `${this.port}`],
      ["protected-mode", "yes"],
      ["dir", this.folder],
      ["daemonize", "no"],
      ["save", ""],
      ["appendonly", "yes"],
      ["appendfsync", this.#appendfsync],
    ].flatMap(([name, value = ""]) => [`--${name}`, value]);
    const started = spawn(PROGRAM, settings, { stdio: ["ignore", "pipe", "ignore"] });
    this.#process = started;
    await ready(started);
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined) return;
    running.kill(signal);
    const impatient = setTimeout(() => running.kill("SIGKILL"), STOP_MS);
    await exited(running);
    clearTimeout(impatient);
  }

  async stop(): Promise<void> {
    process.removeListener("exit", this.#atExit);
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A test run that is aborted leaves nothing running. */
  readonly #atExit = (): void => {
    this.#process?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  };
}

/** Redis prints a line when it accepts connections, after loading its data. */
function ready(started: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Redis did not start in ${READY_MS} ms`)), READY_MS);
    let output = "";
    const settle = (end: () => void) => {
      clearTimeout(timer);
      end();
    };
    started.once("error", (reason) => settle(() => reject(reason)));
    started.once("exit", (code) => settle(() => reject(new Error(`Redis exited with ${code}: ${output}`))));
    started.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-4_096);
      if (output.includes("Ready to accept connections")) settle(resolve);
    });
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
