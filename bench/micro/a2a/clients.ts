import { pairedArms } from "../../harness/paired-arms.js";
import type { Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import { type Arm, orderOfRound } from "../../harness/rounds.js";
import { joinSlices, type Window } from "../../harness/tally.js";
import type { SectionSettings } from "./sections.js";
import type { Stage } from "./stage.js";
import type { ClientRun, ClientSlice } from "./workers/client.js";

/** Clients of one server of ours: CPU time of the client's process per call, against bare undici, which checks nothing. */

type Kind = ClientRun["kind"];

/** A turn of one client; longer than one of the servers, because each is a command of its own. */
const TURN: Window = { rampMs: 0, windowMs: 25 };

interface CallingClient {
  readonly name: string;
  readonly worker: Worker;
}

/** Undici twice, then Koine: all of them call the same server, in turns within one slice. */
export async function clientArms(stage: Stage, settings: SectionSettings, kind: Kind): Promise<readonly Arm[]> {
  const server = await stage.startServer("koine", kind === "send" ? "reply" : "stream");
  const named = [
    { name: `undici ${kind}`, worker: await stage.startClient("undici", server) },
    { name: `undici ${kind} again`, worker: await stage.startClient("undici", server) },
    { name: `koine ${kind}`, worker: await stage.startClient("koine", server) },
  ];
  for (const { worker } of named) await worker.ask<ClientSlice>("run", { kind, window: settings.warmUp });
  let turns = 0;
  const runAll = () => runTurns(named, kind, settings.window.windowMs, turns++);
  await runAll();
  return pairedArms(
    named.map(({ name }) => name),
    runAll,
  );
}

async function runTurns(
  clients: readonly CallingClient[],
  kind: Kind,
  sliceMs: number,
  round: number,
): Promise<readonly Measurement[]> {
  const measured = clients.map(({ worker }) => ({ worker, cpuUs: 0, slices: [] as ClientSlice[] }));
  const until = performance.now() + sliceMs;
  const order = orderOfRound(measured, round);
  do {
    for (const each of [...order, ...order.toReversed()]) {
      const before = await each.worker.usage();
      each.slices.push(await each.worker.ask<ClientSlice>("run", { kind, window: TURN }));
      each.cpuUs += (await each.worker.usage()).cpuUs - before.cpuUs;
    }
  } while (performance.now() < until);
  return measured.map(({ cpuUs, slices }) => {
    const { counted, completed, windowMs, p50Us, p95Us, p99Us, variation } = joinSlices(slices);
    return {
      perSecond: (counted / windowMs) * 1000,
      p50Us,
      p95Us,
      p99Us,
      variation,
      cpuUs: cpuUs / completed,
      requests: counted,
    };
  });
}
