import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { answerCommands } from "../../../harness/worker.js";
import type { StartWsEcho } from "../workload.js";

/** The least that a server on `ws` can do with a text message: read it as a text and send it back. `unread`: send the bytes back. */

answerCommands({ start });

function start({ unread }: StartWsEcho): Promise<number> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("connection", (socket) => {
    if (unread) socket.on("message", (data) => socket.send(data, { binary: false }));
    else socket.on("message", (data) => socket.send(data.toString()));
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    // A listening TCP server has an address object.
    server.on("listening", () => resolve((server.address() as AddressInfo).port));
  });
}
