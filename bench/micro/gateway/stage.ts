import { join } from "node:path";
import { pairedArms } from "../../harness/paired-arms.js";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Arm } from "../../harness/rounds.js";
import type { Window } from "../../harness/tally.js";
import { askOnce } from "./ask-once.js";
import { type LoadSlice, type SocketLoad, socketLoad, type Target, toolLoad } from "./load.js";
import { hasStreams, needsTool, type Pair } from "./pairs.js";
import type { ProxyOptions } from "./proxy.js";
import type { Ports } from "./wires/wire.js";
import type { StartGateway } from "./workers/gateway.js";

export interface StageOptions {
  readonly dist: string;
  readonly cores: Cores;
  /** A folder of this pair's own, for SQLite; undefined: that arm does not run. */
  readonly folder: string | undefined;
}

/** What one section of a pair asks for. */
export interface Work {
  readonly what: "send" | "stream";
  /** Calls at a time; `single`: one, and one arm after the other. */
  readonly connections: number | "single";
  /** How long all arms of a round take together. */
  readonly sliceMs: number;
}

/** The processes of one pair. Gateways have their own core; the load and the agent share the other. */
export interface Stage {
  /** Each arm warmed up and tried once. */
  arms(work: Work, warmUp: Window): Promise<readonly Arm[]>;
}

interface Standing {
  readonly name: string;
  readonly worker: Worker;
  readonly send: Target;
  readonly stream: Target | undefined;
}

export async function setStage(pair: Pair, { dist, cores, folder }: StageOptions): Promise<Stage> {
  const { front, behind } = pair;
  const start = (name: string, file: string, core: number | undefined) =>
    startWorker(name, join(dist, "bench", "micro", "gateway", "workers", `${file}.js`), { core });
  const agent = start("agent", "upstream", cores.load);
  const ports = await agent.ask<Ports>("start", { wire: behind.id });
  const sockets = needsTool(pair) ? undefined : socketLoad(start("load", "load", cores.load));
  const run = sockets?.run ?? toolLoad(cores.load);
  /** Through a gateway callers use the listener's protocol; a plain proxy forwards the agent's own. */
  const standing = (name: string, worker: Worker, port: number, said = front): Standing => {
    const to = { port, http: front.http };
    const streams = hasStreams(pair) && said.stream !== undefined;
    return { name, worker, send: { ...to, sent: said.send }, stream: streams ? { ...to, sent: said.stream } : undefined };
  };
  const proxy = async (name: string): Promise<Standing> => {
    const worker = start(name, "proxy", cores.server);
    const options: ProxyOptions = { front: front.http, behind: behind.http, port: ports[behind.http] };
    return standing(name, worker, await worker.ask<number>("start", options), behind);
  };
  const gateway = async (name: string, mode: StartGateway["mode"], file?: string): Promise<Standing> => {
    const worker = start(name, "gateway", cores.server);
    const options: StartGateway = { url: `http://127.0.0.1:${ports[1]}`, wire: behind.id, mode, file };
    return standing(name, worker, await worker.ask<number>("start", options));
  };
  const all = [
    standing("direct", agent, ports[front.http], behind),
    await proxy("proxy"),
    await proxy("proxy again"),
    await gateway("relay", "relay"),
    await gateway("adopt", "adopt"),
    ...(folder === undefined ? [] : [await gateway("adopt sqlite", "adopt", join(folder, "tasks.db"))]),
  ];
  return {
    async arms({ what, connections, sliceMs }, warmUp) {
      const loaded = connections === "single" ? all : all.filter(({ name }) => name !== "direct");
      const callable = loaded.flatMap(({ name, worker, [what]: target }) => (target ? [{ name, worker, target }] : []));
      const parallel = connections === "single" ? 1 : connections;
      for (const { target } of callable) {
        await askOnce(target);
        await run(target, parallel, warmUp);
      }
      if (sockets === undefined) {
        const window = { rampMs: 0, windowMs: sliceMs / callable.length };
        return callable.map((arm) => {
          const load = () => run(arm.target, parallel, window);
          return { name: arm.name, measure: () => measureAlone(agent, arm.worker, load, 2 * parallel) };
        });
      }
      const together = connections === "single" ? measureCalls : measureTurns;
      return pairedArms(
        callable.map(({ name }) => name),
        () => together({ agent, arms: callable, load: sockets, connections: parallel, sliceMs }),
      );
    },
  };
}

interface LoadedArm {
  readonly name: string;
  readonly worker: Worker;
  readonly target: Target;
}

interface Together {
  readonly agent: Worker;
  readonly arms: readonly LoadedArm[];
  readonly load: SocketLoad;
  readonly connections: number;
  readonly sliceMs: number;
}

async function measureTurns({ agent, arms, load, connections, sliceMs }: Together): Promise<readonly Measurement[]> {
  const usages = () => Promise.all(arms.map(({ worker }) => worker.usage()));
  const targets = arms.map(({ target }) => target);
  const before = { messages: await agent.ask<number>("messages"), usages: await usages() };
  const slices = await load.turns(targets, connections, sliceMs);
  const after = await usages();
  const completed = slices.reduce((sum, slice) => sum + slice.completed, 0);
  await checkMessages(agent, before.messages, completed, 0);
  return slices.map((slice, index) => ({
    perSecond: slice.perSecond,
    p50Us: slice.p50Us,
    cpuUs: ((after[index]?.cpuUs ?? Number.NaN) - (before.usages[index]?.cpuUs ?? Number.NaN)) / slice.completed,
    requests: slice.completed,
  }));
}

/** A single call takes about this long: a slice has as many turns as fit. */
const CALL_MS = 0.5;

async function measureCalls({ arms, load, sliceMs }: Together): Promise<readonly Measurement[]> {
  const targets = arms.map(({ target }) => target);
  const times = await load.calls(targets, Math.ceil(sliceMs / (CALL_MS * targets.length)));
  return times.map(({ p50Us, addedUs }) => ({ p50Us, addedUs }));
}

/** A load tool that stops by time leaves requests in flight, in this run and the previous one: so many are tolerated. */
async function measureAlone(
  agent: Worker,
  worker: Worker,
  load: () => Promise<LoadSlice>,
  tolerated: number,
): Promise<Measurement> {
  const before = { messages: await agent.ask<number>("messages"), usage: await worker.usage() };
  const { perSecond, p50Us, completed } = await load();
  const usage = await worker.usage();
  await checkMessages(agent, before.messages, completed, tolerated);
  return { perSecond, p50Us, cpuUs: (usage.cpuUs - before.usage.cpuUs) / completed, requests: completed };
}

/** Both ends must have counted the same: answers without an upstream request do not count. */
async function checkMessages(agent: Worker, before: number, completed: number, tolerated: number): Promise<void> {
  const came = (await agent.ask<number>("messages")) - before;
  if (came < completed || came > completed + tolerated)
    throw new Error(`${completed} answers came, and the agent saw ${came} messages`);
}
