import { WebSocket } from "ws";
import { type Slice, startTally, type Tally } from "../../harness/tally.js";
import type { Sealing } from "./sealed-cases.js";
import { blankMessage, type EchoOrder, numberMessage } from "./workload.js";

/** One WebSocket to an echo server. */
export interface EchoConnection {
  /** Sends messages as long as the order says, and compares every answer with its message, byte by byte. */
  run(order: EchoOrder): Promise<Slice>;
  /** Resolves after the closing handshake. */
  close(): Promise<void>;
}

/** Never the same number twice in this process. */
let lastNumber = 0;

/** Without `sealing`, messages are texts in clear. */
export async function connectEcho(port: number, sealing?: Sealing): Promise<EchoConnection> {
  const socket = await openSocket(port);
  return {
    async run({ bytes, inFlight, window }) {
      const tally = startTally(window, () => performance.now());
      const messages = Array.from({ length: inFlight }, () => blankMessage(bytes));
      await pump(socket, messages, tally, sealing);
      return tally.slice();
    },
    close: () =>
      new Promise((resolve) => {
        socket.once("close", () => resolve());
        socket.close();
        if (socket.readyState === WebSocket.CLOSED) resolve();
      }),
  };
}

function openSocket(port: number): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
    // Stays: after an error the socket closes, and that is what a run reports.
    socket.on("error", reject);
    socket.once("open", () => resolve(socket));
  });
}

/** Closed loop: each message is sent again, with a new number, when its answer is there. Answers come in the order of the messages. */
function pump(socket: WebSocket, messages: readonly Buffer[], tally: Tally, sealing?: Sealing): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return Promise.reject(closedBy(socket, "before this run"));
  return new Promise((resolve, reject) => {
    const sentAt = messages.map(() => 0);
    let waiting = 0;
    let turn = 0;
    const finish = (problem?: Error) => {
      socket.off("message", onMessage);
      socket.off("close", onClose);
      if (problem === undefined) resolve();
      else reject(problem);
    };
    const send = (message: Buffer, index: number, at: number) => {
      numberMessage(message, ++lastNumber);
      sentAt[index] = at;
      waiting++;
      if (sealing === undefined) socket.send(message, { binary: false });
      else socket.send(sealing.seal(message));
    };
    const onMessage = (data: unknown, isBinary: boolean) => {
      const index = turn;
      turn = turn + 1 < messages.length ? turn + 1 : 0;
      const message = messages[index] as Buffer; // `turn` is within
      if (isBinary !== (sealing !== undefined) || !(data instanceof Buffer) || !message.equals(sealing?.open(data) ?? data)) {
        finish(new Error(`${socket.url}: the answer is not the message that was sent`));
        return;
      }
      waiting--;
      const at = tally.record(sentAt[index] ?? 0);
      if (tally.open()) send(message, index, at);
      else if (waiting === 0) finish();
    };
    const onClose = (code: number, reason: Buffer) => finish(closedBy(socket, `with ${code} ${reason.toString()}`));
    socket.on("message", onMessage);
    socket.on("close", onClose);
    for (const [index, message] of messages.entries()) send(message, index, performance.now());
  });
}

function closedBy({ url }: WebSocket, how: string): Error {
  return new Error(`${url}: the server closed the session ${how}`.trimEnd());
}
