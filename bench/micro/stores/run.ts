import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSame } from "../../harness/conclude.js";
import type { RequestTemplate } from "../../harness/http-load.js";
import { pairedServers } from "../../harness/paired-arms.js";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Progress } from "../../harness/progress.js";
import type { Row } from "../../harness/result.js";
import { type Arm, runSection } from "../../harness/rounds.js";
import type { Window } from "../../harness/tally.js";
import { IN_FLIGHT, STORE_ARMS, type StartStoreServer, type StoreArm } from "./arms.js";
import { RATIOS } from "./ratios.js";

export interface StoresBench {
  readonly dist: string;
  readonly cores: Cores;
  readonly progress: Progress;
  readonly rounds: number;
  /** Milliseconds since the epoch: rounds that do not fit are skipped, except the first. */
  readonly endAtMs: number;
  /** Where a Redis with this promise listens; undefined when there is none. */
  redisUrl(promise: StoreArm["promise"]): Promise<string | undefined>;
}

const SLICE_MS = 200;
const WARM_UP: Window = { rampMs: 0, windowMs: 1500, minAnswers: 20_000 };
const RESUMES_PER_ROUND = 50;
const TEXT = "Please translate the following sentence into French and keep the tone polite. ".repeat(3).slice(0, 200);
const COUNTER = "0000000000";

interface Running {
  readonly arm: StoreArm;
  readonly server: Worker;
  readonly url: string;
  readonly template: RequestTemplate;
}

/** All available stores, in interleaved rounds: sends that create tasks, then resumed streams. */
export async function runStores(bench: StoresBench): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "koine-bench-stores-"));
  try {
    const load = startWorker("load", join(bench.dist, "bench", "micro", "stores", "workers", "task-load.js"), {
      core: bench.cores.load,
    });
    const running: Running[] = [];
    for (const arm of STORE_ARMS) {
      const started = await startArm(bench, arm, folder);
      if (started === undefined) continue;
      bench.progress.show(`${arm.name} warms up`);
      await load.ask("run", { template: started.template, window: WARM_UP });
      running.push(started);
    }
    const servers = running.map(({ arm: { name }, server, template }) => ({ name, server, template }));
    const rows = await section(bench, "tasks", pairedServers(load, servers, { connections: IN_FLIGHT, sliceMs: SLICE_MS }));
    return [
      ...rows,
      ...(await section(
        bench,
        "resume",
        running.map(({ arm, url }) => resumeArm(arm, url, load)),
      )),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startArm(bench: StoresBench, arm: StoreArm, folder: string): Promise<Running | undefined> {
  const redisUrl = arm.kind === "redis" ? await bench.redisUrl(arm.promise) : undefined;
  if (arm.kind === "redis" && redisUrl === undefined) return undefined;
  const own = join(folder, arm.name.replaceAll(" ", "-"));
  mkdirSync(own);
  const server = startWorker(`${arm.name} server`, join(bench.dist, "bench", "micro", "stores", "workers", "store-server.js"), {
    core: bench.cores.server,
  });
  const options: StartStoreServer = { arm, folder: own, ...(redisUrl === undefined ? {} : { redisUrl }) };
  const { url, port } = await server.ask<{ readonly url: string; readonly port: number }>("start", options);
  const message = { messageId: `bench-${COUNTER}`, role: "ROLE_USER", parts: [{ text: TEXT }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
  return { arm, server, url, template: { port, path: "/a2a", headers, body, counter: COUNTER, marker: "TASK_STATE_COMPLETED" } };
}

function section(bench: StoresBench, name: string, arms: readonly Arm[]): Promise<readonly Row[]> {
  return runSection({
    name,
    arms,
    again: (done, rows) => {
      const [floor] = RATIOS.filter(({ section: each, key }) => each === name && key === "floor_vs_floor");
      const wanted = done < bench.rounds || (floor !== undefined && isSame(floor, rows) === false);
      return done === 0 || (wanted && Date.now() < bench.endAtMs);
    },
    onStep: (round, arm) => bench.progress.show(`${name} · round ${round + 1} of ${bench.rounds} · ${arm}`),
  });
}

function resumeArm({ name }: StoreArm, url: string, load: Worker): Arm {
  return { name, measure: async () => ({ resumeUs: await load.ask<number>("resume", { url, times: RESUMES_PER_ROUND }) }) };
}
