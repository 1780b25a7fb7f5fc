import type { IncomingMessage } from "node:http";
import type { Server } from "node:net";

/** A message of a control is a few hundred bytes. */
const BODY_BYTES = 1024 * 1024;

/** Listens at a free port of this machine, and returns it. */
export async function listenLocally(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > BODY_BYTES) throw new Error(`a body of more than ${BODY_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
