import { Agent, request } from "node:http";
import { type Slice, startTally } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { type Protection, protectionOf, type SageKind } from "../sage-cases.js";
import { blankMessage, type EchoOrder, numberMessage } from "../workload.js";

/** The load process of the SAGE arms: one connection, one message at a time. */

interface Target {
  readonly port: number;
  readonly kind: SageKind;
}

let target: Target | undefined;
let protection: Protection | undefined;
let lastNumber = 0;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

answerCommands({ open, run, close });

/** The client's side of each server, by its port. A session goes on in the next slice: its keys and nonces are made once for many messages. */
const protections = new Map<number, Protection>();

function open(to: Target): void {
  target = to;
  protection = protections.get(to.port) ?? protectionOf(to.kind, "initiator");
  protections.set(to.port, protection);
}

async function run({ bytes, window }: EchoOrder): Promise<Slice> {
  if (target === undefined || protection === undefined) throw new Error("not connected");
  const tally = startTally(window, () => performance.now());
  const message = blankMessage(bytes);
  for (let sentAt = performance.now(); tally.open(); ) {
    numberMessage(message, ++lastNumber);
    if (!message.equals(await exchange(target.port, protection, message)))
      throw new Error("the answer is not the message that was sent");
    sentAt = tally.record(sentAt);
  }
  return tally.slice();
}

function exchange(port: number, { write, read }: Protection, message: Uint8Array): Promise<Uint8Array> {
  const { headers, body } = write(message);
  return new Promise((resolve, reject) => {
    const sent = request({
      port,
      host: "127.0.0.1",
      method: "POST",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        try {
          resolve(read(response.headers as Record<string, string>, Buffer.concat(chunks))); // no field is repeated
        } catch (thrown) {
          reject(thrown);
        }
      });
    });
    sent.end(body);
  });
}

function close(): void {
  agent.destroy();
}
