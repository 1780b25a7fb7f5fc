import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { answerCommands } from "../../../harness/worker.js";
import type { ServerAddress } from "../workload.js";

/** The least that Node can do over HTTP/2 with the same bytes: read a message, answer one of the same length, and trailers. */

answerCommands({ start });

function start({ bytes }: { readonly bytes: number }): Promise<ServerAddress> {
  const answer = Buffer.alloc(bytes);
  const server = createServer();
  server.on("stream", (stream) => {
    const pieces: Buffer[] = [];
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("end", () => {
      if (Buffer.concat(pieces).length === 0) throw new Error("an empty request came");
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(answer);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      // A listening TCP server has an address object.
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}`, port, rpcPath: "", restPath: "" });
    });
  });
}
