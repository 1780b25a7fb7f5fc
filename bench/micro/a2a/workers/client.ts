import { percentile } from "../../../harness/statistics.js";
import { type Slice, startTally, type Window } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { CONNECTIONS, MARKER, type ServerAddress, STREAM_EVENTS } from "../workload.js";

let nextNumber = 1;

/** The calling half of a client-and-server arm, as each of the three makes it. */
export interface BenchClient {
  /** Sends one message; returns the text of the answer. */
  send(number: number): Promise<string>;
  /** Sends one message; yields each event of the stream. */
  stream(number: number): AsyncIterable<unknown>;
}

export type Connect = (server: ServerAddress, binding: "rpc" | "rest") => Promise<BenchClient>;

export interface ClientRun {
  readonly kind: "send" | "stream";
  readonly window: Window;
}

export interface ClientSlice extends Slice {
  readonly firstEventUs?: number;
}

/** Serves the driver's commands with this client. */
export function answerAsClient(connect: Connect): void {
  let client: BenchClient | undefined;
  answerCommands({
    async connect({ server, binding }: { readonly server: ServerAddress; readonly binding: "rpc" | "rest" }) {
      client = await connect(server, binding);
    },
    run({ kind, window }: ClientRun): Promise<ClientSlice> {
      if (client === undefined) throw new Error("not connected");
      return kind === "send" ? runSends(client, window) : runStreams(client, window);
    },
  });
}

function runSends(client: BenchClient, window: Window): Promise<ClientSlice> {
  const one = async (number: number) => {
    const text = await client.send(number);
    if (!text.includes(MARKER)) throw new Error(`answered ${text}`);
  };
  return runLoopLoad(one, CONNECTIONS, window);
}

async function runStreams(client: BenchClient, window: Window): Promise<ClientSlice> {
  const firsts: number[] = [];
  const one = async (number: number) => {
    const sentAt = performance.now();
    let events = 0;
    for await (const _ of client.stream(number)) if (++events === 1) firsts.push(performance.now() - sentAt);
    if (events !== STREAM_EVENTS) throw new Error(`${events} events in a stream of ${STREAM_EVENTS}`);
  };
  const slice = await runLoopLoad(one, CONNECTIONS, window);
  return { ...slice, firstEventUs: percentile(Float64Array.from(firsts).sort(), 0.5) * 1000 };
}

/** Closed loop over any asynchronous call, `concurrency` of them at a time. The number given to each call never repeats. */
async function runLoopLoad(one: (number: number) => Promise<void>, concurrency: number, window: Window): Promise<Slice> {
  const tally = startTally(window, () => performance.now());
  const loop = async () => {
    for (let sentAt = performance.now(); tally.open(); ) {
      await one(nextNumber++);
      sentAt = tally.record(sentAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return tally.slice();
}
