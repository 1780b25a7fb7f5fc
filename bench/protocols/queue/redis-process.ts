import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const PROGRAM = "redis-server";
const LOOK_EVERY_MS = 10;
/** The end of its log that an error shows. */
const LOG_CHARS = 500;
/** Ends Redis and removes its folder when the input ends, which is also when the benchmark is killed. */
const SCRIPT = `${PROGRAM} --port 0 --unixsocket "$1/socket" --save "" --appendonly no >"$1/log" 2>&1 &
cat >/dev/null; kill -9 $!; wait $!; rm -rf "$1"`;

/** Why no queue can be kept in Redis here; undefined if it can. */
export function redisProblem(): string | undefined {
  return spawnSync(PROGRAM, ["--version"], { stdio: "ignore" }).status === 0
    ? undefined
    : `the command ${PROGRAM} is not installed`;
}

/** A Redis of one run, at a socket of the file system. It never outlives this process. */
export class RedisProcess {
  readonly socket: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(folder: string) {
    this.socket = join(folder, "socket");
    this.#child = spawn("sh", ["-c", SCRIPT, "sh", folder], { stdio: ["pipe", "ignore", "ignore"] });
    this.#child.stdin?.on("error", () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", () => resolve());
      this.#child.once("error", () => resolve());
    });
  }

  static async start(withinMs: number): Promise<RedisProcess> {
    const redis = new RedisProcess(await mkdtemp(join(tmpdir(), "koine-queue-")));
    for (const until = performance.now() + withinMs; !(await accepts(redis.socket)); await pause(LOOK_EVERY_MS))
      if (performance.now() > until) {
        const log = await readFile(join(dirname(redis.socket), "log"), "utf8").catch(() => "");
        await redis.stop();
        throw new Error(
          `${PROGRAM} did not start within ${withinMs} ms: ${log.trim().slice(-LOG_CHARS) || "it printed nothing"}`,
        );
      }
    return redis;
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}

function accepts(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const tried = connect(socket);
    const settle = (accepted: boolean): void => {
      tried.destroy();
      resolve(accepted);
    };
    tried.once("connect", () => settle(true));
    tried.once("error", () => settle(false));
  });
}
