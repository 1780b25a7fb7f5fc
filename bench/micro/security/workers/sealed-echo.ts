import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { Intake, Session } from "../../../../src/public/protocols.js";
import { listen } from "../../../../src/transport/node/index.js";
import { answerCommands } from "../../../harness/worker.js";
import { type SealedKind, sealingOf } from "../sealed-cases.js";

/** Servers that open every message, seal it again and send it back: bare `ws` with the bare cipher, or our session with our records. */

answerCommands({ start });

function start(kind: SealedKind): Promise<number> {
  return kind === "bare" ? startBare() : startSession();
}

function startBare(): Promise<number> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("connection", (socket) => {
    const sealing = sealingOf("bare", "responder");
    socket.on("message", (data: Buffer) => socket.send(sealing.seal(sealing.open(data))));
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    // A listening TCP server has an address object.
    server.on("listening", () => resolve((server.address() as AddressInfo).port));
  });
}

async function startSession(): Promise<number> {
  const onError = (thrown: unknown) => void process.stderr.write(`sealed echo: ${String(thrown)}\n`);
  return (await listen(intake, { port: 0, onError })).port;
}

const intake: Intake = {
  take: () => ({ status: 404, headers: {}, body: undefined }),
  upgrade: () => ({ subprotocol: undefined, headers: {}, accept: echo, abandon() {} }),
};

async function echo(session: Session): Promise<void> {
  const sealing = sealingOf("records", "responder");
  for await (const frame of session.frames) {
    const room = session.send(sealing.seal(sealing.open(frame as Uint8Array)));
    if (room !== undefined) await room;
  }
}
