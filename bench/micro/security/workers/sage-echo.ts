import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerCommands } from "../../../harness/worker.js";
import { protectionOf, type SageKind } from "../sage-cases.js";

/** A bare HTTP server that reads every message as its kind says and sends it back the same way. */

answerCommands({ start });

function start(kind: SageKind): Promise<number> {
  const protection = protectionOf(kind, "responder");
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const whole = chunks.length === 1 ? chunks[0] : undefined;
      const message = protection.read(request.headers as Record<string, string>, whole ?? Buffer.concat(chunks)); // no field is repeated
      const { headers, body } = protection.write(message);
      response.writeHead(200, { ...headers, "content-length": body.length }).end(body);
    });
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    // A listening TCP server has an address object.
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
