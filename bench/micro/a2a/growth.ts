import { type LoadedServer, pairedServers } from "../../harness/paired-arms.js";
import type { Worker } from "../../harness/processes.js";
import type { Arm } from "../../harness/rounds.js";
import type { SectionSettings } from "./sections.js";
import { type Stage, templateOf } from "./stage.js";
import { CONNECTIONS } from "./workload.js";

/** Whether a request costs the same on a server that keeps many tasks, and on one with many open streams. */

export const FEW_TASKS = 1_000;
export const MANY_TASKS = 100_000;
export const MANY_STREAMS = 5_000;
/** A server is filled by commands of so many requests each: on a busy machine all of them would take longer than any command may. */
const FILL_STEP = 5_000;
/** Opening streams takes longer than other commands. */
const OPEN_MS = 240_000;

/** Each server is filled to its limit first, so that every task it creates evicts one. */
export async function keptTaskArms(stage: Stage, settings: SectionSettings): Promise<readonly Arm[]> {
  const load = stage.startOther("load");
  const servers: LoadedServer[] = [];
  for (const [name, keep] of [
    [`${FEW_TASKS} tasks`, FEW_TASKS],
    [`${FEW_TASKS} tasks again`, FEW_TASKS],
    [`${MANY_TASKS} tasks`, MANY_TASKS],
  ] as const) {
    const server = await stage.startServer("koine", "task", { keep });
    const template = templateOf(server.address, "rpc");
    const requests = Math.max(keep, settings.warmUp.minAnswers ?? 0);
    for (let sent = 0; sent < requests; sent += FILL_STEP)
      await load.ask("many", { template, requests: Math.min(FILL_STEP, requests - sent) });
    servers.push({ name, server, template });
  }
  return warmedUp(load, servers, settings);
}

/** The first servers were idle while the last one was filled: all of them begin alike. */
async function warmedUp(load: Worker, servers: readonly LoadedServer[], settings: SectionSettings): Promise<readonly Arm[]> {
  for (const { template } of servers) await load.ask("run", { template, window: settings.warmUp });
  return pairedServers(load, servers, { connections: CONNECTIONS, sliceMs: settings.window.windowMs });
}

/** The streams are held by a load process of their own. The floor has as many: what an open connection costs Node is not ours. */
export async function openStreamArms(stage: Stage, settings: SectionSettings): Promise<readonly Arm[]> {
  const load = stage.startOther("load");
  const servers: LoadedServer[] = [];
  for (const [name, family, streams] of [
    ["1 stream", "koine", 1],
    ["1 stream again", "koine", 1],
    [`${MANY_STREAMS} streams`, "koine", MANY_STREAMS],
    ["floor 1 stream", "floor", 1],
    [`floor ${MANY_STREAMS} streams`, "floor", MANY_STREAMS],
  ] as const) {
    const server = await stage.startServer(family, "reply or hold", { streams: MANY_STREAMS });
    const paths = family === "floor" ? { held: { path: "/hold" }, asked: { path: "/rpc" } } : { held: {}, asked: {} };
    const held = { ...templateOf(server.address, "stream"), ...paths.held };
    await stage.startOther("load").ask("hold", { template: held, count: streams }, OPEN_MS);
    servers.push({ name, server, template: { ...templateOf(server.address, "rpc"), ...paths.asked } });
  }
  return warmedUp(load, servers, settings);
}
