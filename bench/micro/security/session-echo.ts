import { join } from "node:path";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Window } from "../../harness/tally.js";
import { measureEcho } from "./measure-echo.js";
import type { PlacedArm } from "./placed-arm.js";
import { ECHO_CASES, type EchoOrder, type StartWsEcho } from "./workload.js";

/** A server of every case. Its name is that of its arms in the table. */
interface EchoServer {
  readonly arm: string;
  readonly file: string;
  readonly options?: StartWsEcho;
}

const SERVERS: readonly EchoServer[] = [
  { arm: "ws", file: "ws-echo", options: { unread: false } },
  { arm: "ws again", file: "ws-echo", options: { unread: false } },
  { arm: "session", file: "session-echo" },
];
/** Never makes a text of what it receives, as nothing that understands its messages can. */
const UNREAD: EchoServer = { arm: "ws unread", file: "ws-echo", options: { unread: true } };

export interface EchoStage {
  readonly dist: string;
  readonly cores: Cores;
  readonly window: Window;
  /** The least time of a warm-up. */
  readonly warmUpMs: number;
  /** Only the arms with a target, and their floors. */
  readonly quick: boolean;
}

/** Sessions that echo every message, against bare `ws`. Each arm has its own server process for all cases; one load process serves all. */
export async function echoArms({ dist, cores, window, warmUpMs, quick }: EchoStage): Promise<readonly PlacedArm[]> {
  const start = (name: string, file: string, core: number | undefined) =>
    startWorker(name, join(dist, "bench", "micro", "security", "workers", `${file}.js`), { core });
  const load = start("load", "echo-load", cores.load);
  const servers: { readonly arm: string; readonly server: Worker; readonly port: number }[] = [];
  for (const { arm, file, options } of quick ? SERVERS : [...SERVERS, UNREAD]) {
    const server = start(arm, file, cores.server);
    servers.push({ arm, server, port: await server.ask<number>("start", options) });
  }
  const arms: PlacedArm[] = [];
  for (const { key, bytes, inFlight, warmUpMessages } of ECHO_CASES) {
    for (const { arm, server, port } of servers) {
      const run = (during: Window) => measure(server, load, port, { bytes, inFlight, window: during });
      await run({ rampMs: 0, windowMs: warmUpMs, minAnswers: warmUpMessages });
      arms.push({ section: key, arm, measure: () => run(window) });
    }
  }
  return arms;
}

/** A new session each time, because an idle one is closed. Its handshakes are not counted. */
async function measure(server: Worker, load: Worker, port: number, order: EchoOrder): Promise<Measurement> {
  await load.ask("open", port);
  return measureEcho(server, load, order);
}
