import { join } from "node:path";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Arm } from "../../harness/rounds.js";
import type { Window } from "../../harness/tally.js";
import { askOnce } from "./ask-once.js";
import { type Load, socketLoad, type Target, toolLoad } from "./load.js";
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

/** The work of one round of an arm. */
export interface Work {
  readonly what: "send" | "stream";
  readonly connections: number;
  readonly window: Window;
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
  const load: Load = needsTool(pair) ? toolLoad(cores.load) : socketLoad(start("load", "load", cores.load));
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
    async arms({ what, connections, window }, warmUp) {
      const arms: Arm[] = [];
      for (const { name, worker, [what]: target } of all) {
        if (target === undefined) continue;
        await askOnce(target);
        await load(target, connections, warmUp);
        arms.push({ name, measure: () => measure({ agent, worker, load, target, connections, window }) });
      }
      return arms;
    },
  };
}

interface Measuring {
  readonly agent: Worker;
  readonly worker: Worker;
  readonly load: Load;
  readonly target: Target;
  readonly connections: number;
  readonly window: Window;
}

/** Both ends must have counted the same: answers without an upstream request do not count. */
async function measure({ agent, worker, load, target, connections, window }: Measuring): Promise<Measurement> {
  const before = { messages: await agent.ask<number>("messages"), usage: await worker.usage() };
  const { perSecond, p50Us, completed } = await load(target, connections, window);
  const usage = await worker.usage();
  const came = (await agent.ask<number>("messages")) - before.messages;
  // A load tool that stops by time leaves requests in flight, in this run and the previous one.
  if (came < completed || came > completed + 2 * connections)
    throw new Error(`${worker.name}: ${completed} answers came, and the agent saw ${came} messages`);
  return { perSecond, p50Us, cpuUs: (usage.cpuUs - before.usage.cpuUs) / completed, requests: completed };
}
