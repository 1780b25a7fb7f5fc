import { type LoadedServer, pairedServers } from "../../harness/paired-arms.js";
import type { Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import { type Arm, orderOfRound } from "../../harness/rounds.js";
import type { Window } from "../../harness/tally.js";
import type { Usage } from "../../harness/worker.js";
import { type Endpoint, type Stage, templateOf } from "./stage.js";
import type { ClientSlice } from "./workers/client.js";
import { CONNECTIONS, MEASURED_STREAMS, type Mode, STREAM_EVENTS, WARM_STREAMS } from "./workload.js";

/** The arms of each section. Each arm has its own processes, so that none inherits another's heap. */

const MEGABYTE = 1024 * 1024;
const THOUSANDS = MEASURED_STREAMS / 1000;

export interface SectionSettings {
  readonly window: Window;
  /** Time and number of answers of the warm-up, so that a slow arm is compiled as well as a fast one. */
  readonly warmUp: Window;
  /** The part that a quick run is judged on. */
  readonly quick: boolean;
}

/**
 * Requests from the load process to the servers, in turns. Two processes of the same program can differ by a tenth for as long as they run:
 * each generation has processes of its own, started and warmed up in another order.
 */
export async function serverArms(stage: Stage, settings: SectionSettings, generation: number): Promise<readonly Arm[]> {
  const load = stage.startOther("load");
  const floorArm = (name: string, path: "/rpc" | "/rest" | "/task" | "/stream" | "/burst"): ServerStart => ({
    name,
    async start() {
      const server = await stage.startServer("floor", "reply");
      const endpoint: Endpoint = path === "/rest" ? "rest" : path === "/stream" || path === "/burst" ? "stream" : "rpc";
      return { name, server, template: { ...templateOf(server.address, endpoint), path } };
    },
  });
  const familyArm = (family: "koine" | "a2a-js", work: string, mode: Mode, endpoint: Endpoint): ServerStart => ({
    name: `${family} ${work}`,
    async start() {
      const server = await stage.startServer(family, mode);
      return { name: `${family} ${work}`, server, template: templateOf(server.address, endpoint) };
    },
  });
  const starts = [
    floorArm("floor", "/rpc"),
    floorArm("floor again", "/rpc"),
    floorArm("floor task", "/task"),
    floorArm("floor stream", "/stream"),
  ];
  if (!settings.quick) starts.push(floorArm("floor rest", "/rest"), floorArm("floor burst", "/burst"));
  for (const family of stage.families) {
    if (settings.quick && family !== "koine") continue;
    starts.push(familyArm(family, "json-rpc", "reply", "rpc"));
    if (!settings.quick) starts.push(familyArm(family, "rest", "reply", "rest"));
    starts.push(familyArm(family, "task", "task", "rpc"), familyArm(family, "stream", "stream", "stream"));
    if (!settings.quick && family === "koine") starts.push(familyArm(family, "burst", "burst", "stream"));
  }
  const started: LoadedServer[] = [];
  for (const { start } of orderOfRound(starts, generation)) {
    const arm = await start();
    await load.ask("run", { template: arm.template, window: warmUpOf(arm.name, settings) });
    started.push(arm);
  }
  // Rows keep their order, whatever was started first.
  const arms = starts.flatMap(({ name }) => started.filter((arm) => arm.name === name));
  const paired = pairedServers(load, arms, { connections: CONNECTIONS, sliceMs: settings.window.windowMs });
  // The first to be warmed up was idle while the others were: one round for nothing.
  for (const arm of paired) await arm.measure();
  return paired;
}

interface ServerStart {
  readonly name: string;
  start(): Promise<LoadedServer>;
}

/** A stream is as much work as so many messages. */
export const ANSWERS_PER_STREAM = 10;

export function warmUpOf(arm: string, { warmUp }: SectionSettings): Window {
  const isStream = arm.endsWith("stream") || arm.endsWith("burst");
  return isStream ? { ...warmUp, minAnswers: (warmUp.minAnswers ?? 0) / ANSWERS_PER_STREAM } : warmUp;
}

/** Each family's own client calls its own server. */
export async function bothArms(stage: Stage, settings: SectionSettings): Promise<readonly Arm[]> {
  const one = async (
    family: "floor" | "koine" | "a2a-js",
    name: string,
    mode: Mode,
    binding: "rpc" | "rest" = "rpc",
  ): Promise<Arm> => {
    const server = await stage.startServer(family, mode);
    const client = await stage.startClient(family, server, binding);
    const run = (window: Window) => client.ask<ClientSlice>("run", { kind: "send", window });
    await run(settings.warmUp);
    return { name, measure: () => measureServer(server, () => run(settings.window)) };
  };
  const arms = [await one("floor", "floor", "reply")];
  for (const family of stage.families) {
    arms.push(await one(family, `${family} json-rpc`, "reply"));
    arms.push(await one(family, `${family} rest`, "reply", "rest"));
    arms.push(await one(family, `${family} task`, "task"));
  }
  return arms;
}

/** Twenty events per stream, each family's client and server. */
export async function streamArms(stage: Stage, settings: SectionSettings): Promise<readonly Arm[]> {
  const arms: Arm[] = [];
  for (const family of ["floor", ...stage.families] as const) {
    const server = await stage.startServer(family, "stream");
    const client = await stage.startClient(family, server);
    const run = (window: Window) => client.ask<ClientSlice>("run", { kind: "stream", window });
    await run(settings.warmUp);
    arms.push({ name: family, measure: () => measureServer(server, () => run(settings.window)) });
  }
  return arms;
}

/** Server memory of open, idle streams, by the thousand; a new process each time. */
export function memoryArms(stage: Stage): readonly Arm[] {
  return (["floor", ...stage.families] as const).map((family) => ({
    name: family,
    async measure() {
      const server = await stage.startServer(family, "hold");
      const load = stage.startOther("load");
      try {
        const plain = templateOf(server.address, "stream");
        const template = family === "floor" ? { ...plain, path: "/hold" } : plain;
        await load.ask("hold", { template, count: WARM_STREAMS });
        const before = await server.ask<Usage>("collect");
        await load.ask("hold", { template, count: MEASURED_STREAMS });
        const after = await server.ask<Usage>("collect");
        return {
          rssMb: (after.rssBytes - before.rssBytes) / MEGABYTE / THOUSANDS,
          heapMb: (after.heapBytes - before.heapBytes) / MEGABYTE / THOUSANDS,
        };
      } finally {
        server.stop();
        load.stop();
      }
    },
  }));
}

/** One message written and read back, without any socket. */
export function codecArms(stage: Stage): readonly Arm[] {
  const codec = stage.startOther("codec");
  return ["json", "koine"].map((name) => ({ name, measure: async () => ({ codecUs: await codec.ask<number>(name) }) }));
}

async function measureServer(server: Worker, run: () => Promise<ClientSlice>): Promise<Measurement> {
  const before = await server.usage();
  const slice = await run();
  const after = await server.usage();
  const perSecond = (slice.counted / slice.windowMs) * 1000;
  const { p50Us, p95Us, p99Us, variation, firstEventUs } = slice;
  const cpuUs = (after.cpuUs - before.cpuUs) / slice.completed;
  const base = { perSecond, p50Us, p95Us, p99Us, variation, cpuUs, requests: slice.counted };
  return firstEventUs === undefined ? base : { ...base, firstEventUs, eventsPerSecond: perSecond * STREAM_EVENTS };
}
