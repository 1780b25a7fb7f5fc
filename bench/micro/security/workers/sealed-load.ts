import { connect, DiscoveryCache, type RemoteAgent } from "../../../../src/index.js";
import { createIdentity } from "../../../../src/public/identity.js";
import { type Slice, startTally } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { connectEcho, type EchoConnection } from "../echo-load.js";
import { sealingOf } from "../sealed-cases.js";
import type { CallTarget, SealedTarget } from "../sealed-echo.js";
import { blankMessage, type EchoOrder } from "../workload.js";

/** The load process of the sealed arms. One connection at a time. */

let connection: EchoConnection | undefined;

answerCommands({ open, call, run, close });

async function open({ port, kind }: SealedTarget): Promise<void> {
  connection = await connectEcho(port, sealingOf(kind, "initiator"));
}

/** A client of an agent, one question at a time. */
async function call({ url, pin }: CallTarget): Promise<void> {
  const identity = createIdentity({ name: "load", did: "key" });
  const peer = await connect(url, { pin, identity, discoveryCache: new DiscoveryCache() });
  connection = { run: (order) => asking(peer, order), close: () => peer.close() };
}

async function asking(peer: RemoteAgent, { bytes, window }: EchoOrder): Promise<Slice> {
  const tally = startTally(window, () => performance.now());
  const text = blankMessage(bytes).toString();
  for (let sentAt = performance.now(); tally.open(); ) {
    if ((await peer.ask(text)) !== text) throw new Error("the answer is not the message that was sent");
    sentAt = tally.record(sentAt);
  }
  return tally.slice();
}

async function run(order: EchoOrder): Promise<Slice> {
  if (connection === undefined) throw new Error("not connected");
  return connection.run(order);
}

async function close(): Promise<void> {
  await connection?.close();
  connection = undefined;
}
