import { Agent, request } from "node:http";
import { orderOfRound } from "../../../harness/rounds.js";
import { joinSlices, type Slice, startTally } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { type Protection, protectionOf, type SageKind } from "../sage-cases.js";
import { blankMessage, numberMessage } from "../workload.js";

/** The load process of the SAGE arms: one connection to each server, one message at a time. */

export interface SageTarget {
  readonly port: number;
  readonly kind: SageKind;
}

/** Servers that are called in turns. */
export interface EchoTurns {
  readonly targets: readonly SageTarget[];
  readonly bytes: number;
  readonly sliceMs: number;
  /** Of each turn. */
  readonly minAnswers?: number;
}

/** Short, so that all servers of a slice meet the same disturbances. */
const TURN_MS = 10;
/** Connections stay open from slice to slice: opening one would cost its server a share of its time. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
/** The client's side of each server, by its port. A session goes on in the next slice: its keys and nonces are made once for many messages. */
const protections = new Map<number, Protection>();
let lastNumber = 0;
/** Goes on from slice to slice, so that no server is always the first of one. */
let rounds = 0;

answerCommands({ turns });

/** The servers there and back, until the time is over. */
async function turns({ targets, bytes, sliceMs, minAnswers }: EchoTurns): Promise<readonly Slice[]> {
  const arms = targets.map(({ port, kind }) => {
    const protection = protections.get(port) ?? protectionOf(kind, "initiator");
    protections.set(port, protection);
    return { port, protection, slices: [] as Slice[] };
  });
  const message = blankMessage(bytes);
  const during = { rampMs: 0, windowMs: TURN_MS, ...(minAnswers && { minAnswers }) };
  const until = performance.now() + sliceMs;
  do {
    const order = orderOfRound(arms, rounds++);
    for (const { port, protection, slices } of [...order, ...order.toReversed()]) {
      const tally = startTally(during, () => performance.now());
      for (let sentAt = performance.now(); tally.open(); ) {
        numberMessage(message, ++lastNumber);
        if (!message.equals(await exchange(port, protection, message)))
          throw new Error("the answer is not the message that was sent");
        sentAt = tally.record(sentAt);
      }
      slices.push(tally.slice());
    }
  } while (performance.now() < until);
  return arms.map(({ slices }) => joinSlices(slices));
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
