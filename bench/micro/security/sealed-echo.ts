import { join } from "node:path";
import { startWorker, type Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Window } from "../../harness/tally.js";
import { measureEcho } from "./measure-echo.js";
import type { PlacedArm } from "./placed-arm.js";
import { AGAIN, CALL_CASE, FLOOR, SEALED, SEALED_CASES, type SealedKind } from "./sealed-cases.js";
import type { EchoStage } from "./session-echo.js";
import type { EchoOrder } from "./workload.js";

/** Where the load process seals messages. */
export interface SealedTarget {
  readonly port: number;
  readonly kind: SealedKind;
}

/** Where it makes whole calls. */
export interface CallTarget {
  readonly url: string;
  readonly pin: string;
}

/** A server, and how the load process connects to it. */
interface Started {
  readonly arm: string;
  readonly server: Worker;
  readonly connect: "open" | "call";
  readonly target: SealedTarget | CallTarget;
}

const SERVERS: readonly (readonly [arm: string, kind: SealedKind])[] = [
  [FLOOR, "bare"],
  [AGAIN, "bare"],
  [SEALED, "records"],
];

/** Sealed messages that are echoed, against a WebSocket with the bare cipher. Beside them: whole calls of protocols that sign or seal, and sealed sessions through a relay. */
export async function sealedArms({ dist, cores, window, warmUpMs, quick }: EchoStage): Promise<readonly PlacedArm[]> {
  const start = (name: string, file: string, core: number | undefined) =>
    startWorker(name, join(dist, "bench", "micro", "security", "workers", `${file}.js`), { core });
  const load = start("sealed load", "sealed-load", cores.load);
  const echoes: Started[] = [];
  for (const [arm, kind] of SERVERS) {
    const server = start(arm, "sealed-echo", cores.server);
    echoes.push({ arm, server, connect: "open", target: { port: await server.ask<number>("start", kind), kind } });
  }
  const calls = quick
    ? []
    : await startCalls(start("agent", "signing-agent", cores.server), start("relay", "relay-gateway", cores.server));
  const arms: PlacedArm[] = [];
  for (const { key, bytes, warmUpMessages } of SEALED_CASES) {
    for (const started of key === CALL_CASE ? [...echoes, ...calls] : echoes) {
      const run = (during: Window) => measure(started, load, { bytes, inFlight: 1, window: during });
      await run({ rampMs: 0, windowMs: warmUpMs, minAnswers: warmUpMessages });
      arms.push({ section: key, arm: started.arm, measure: () => run(window) });
    }
  }
  return arms;
}

/** Each interface called directly, and those with sessions through a relay as well: there its CPU time alone is measured. */
async function startCalls(agent: Worker, relay: Worker): Promise<readonly Started[]> {
  const targets = await agent.ask<readonly CallTarget[]>("start");
  const url = await relay.ask<string>("start", targets[0]?.url);
  const relayed = targets.filter(({ pin }) => pin.endsWith("/WS")).map(({ pin }) => ({ url, pin }));
  return [
    ...targets.map((target) => ({ arm: `call ${target.pin}`, server: agent, connect: "call", target }) as const),
    ...relayed.map((target) => ({ arm: `relay of ${target.pin}`, server: relay, connect: "call", target }) as const),
  ];
}

async function measure({ server, connect, target }: Started, load: Worker, order: EchoOrder): Promise<Measurement> {
  await load.ask(connect, target);
  return measureEcho(server, load, order);
}
