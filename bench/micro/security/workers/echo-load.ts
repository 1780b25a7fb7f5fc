import type { Slice } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { connectEcho, type EchoConnection } from "../echo-load.js";
import type { EchoOrder } from "../workload.js";

/** The load process of the session arms: bare `ws`, nothing of ours. One connection at a time. */

let connection: EchoConnection | undefined;

answerCommands({ open, run, close });

async function open(port: number): Promise<void> {
  connection = await connectEcho(port);
}

async function run(order: EchoOrder): Promise<Slice> {
  if (connection === undefined) throw new Error("not connected");
  return connection.run(order);
}

async function close(): Promise<void> {
  await connection?.close();
  connection = undefined;
}
