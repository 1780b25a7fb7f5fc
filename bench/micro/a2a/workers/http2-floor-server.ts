import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { answerCommands } from "../../../harness/worker.js";
import { MARKER, nextTurn, type ServerAddress } from "../workload.js";

/** The least that Node can do over HTTP/2 with the same bytes: read a message, answer as many and as long ones, and trailers. */

answerCommands({ start });

/** The lengths of the messages of an answer, one by one. */
function start({ messages }: { readonly messages: readonly number[] }): Promise<ServerAddress> {
  const answers = messages.map((bytes) => Buffer.alloc(bytes, MARKER));
  const server = createServer();
  server.on("stream", (stream) => {
    const pieces: Buffer[] = [];
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("end", () => {
      if (Buffer.concat(pieces).length === 0) throw new Error("an empty request came");
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      if (answers.length === 1) stream.end(answers[0]);
      else void writeEach(stream, answers);
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

async function writeEach(stream: ServerHttp2Stream, answers: readonly Buffer[]): Promise<void> {
  for (const answer of answers) {
    stream.write(answer);
    await nextTurn();
  }
  stream.end();
}
