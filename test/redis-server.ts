import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installed } from "./debian-package.js";

/** How soon Redis writes to disk what it has answered for. */
export interface RedisServerOptions {
  readonly appendfsync?: "always" | "everysec" | "no";
}

/** A Redis of our own: on a free loopback port, with its data in a folder that goes away with it. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Of the process that runs now; another one after `restart`. */
  readonly pid: number;
  /** SIGKILL unless told otherwise. Resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** On the same port and with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 15_000;
const PROGRAM = "redis-server";

let known: Promise<boolean> | undefined;

/** Whether there is a Redis to test with. Installs it where that is possible; says so loudly where it is not. */
export function redisAvailable(): Promise<boolean> {
  known ??= findOrInstall();
  return known;
}

async function findOrInstall(): Promise<boolean> {
  if (await installed(PROGRAM, isThere)) return true;
  if (process.env["CI"]) throw new Error(`${PROGRAM} is not on the path and could not be installed`);
  process.stderr.write(`\n*** SKIPPED: ${PROGRAM} is not on the path. Install it to run the tests of the Redis store. ***\n\n`);
  return false;
}

function isThere(): boolean {
  return spawnSync(PROGRAM, ["--version"], { stdio: "ignore" }).status === 0;
}

/** Starts a Redis and waits until it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = new OwnRedis(await freePort(), mkdtempSync(join(tmpdir(), "koine-redis-")), options.appendfsync ?? "everysec");
  await server.restart();
  return server;
}

class OwnRedis implements RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #appendfsync: string;
  #process: ChildProcess | undefined;

  constructor(port: number, folder: string, appendfsync: string) {
    this.port = port;
    this.#folder = folder;
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
    // No configuration file is read: what is not said here is Redis's own default, on every machine.
    const settings = [
      ["bind", "127.0.0.1"],
      ["port", `${this.port}`],
      ["protected-mode", "yes"],
      ["dir", this.#folder],
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
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, "exit");
    running.kill(signal);
    await gone;
  }

  async stop(): Promise<void> {
    process.removeListener("exit", this.#atExit);
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A test that never came to its end leaves nothing running. */
  readonly #atExit = (): void => {
    this.#process?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  };
}

/** Redis says on its output when it takes connections, after its data is loaded. */
function ready(started: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Redis did not start in ${READY_MS} ms`)), READY_MS);
    let said = "";
    const settle = (end: () => void) => {
      clearTimeout(timer);
      end();
    };
    started.once("error", (reason) => settle(() => reject(reason)));
    started.once("exit", (code) => settle(() => reject(new Error(`Redis ended with ${code}: ${said}`))));
    started.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_096);
      if (said.includes("Ready to accept connections")) settle(resolve);
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
