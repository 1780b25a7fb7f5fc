import { connect } from "node:http2";
import { request } from "undici";
import { MARKER } from "../a2a/workload.js";
import type { Target } from "./load.js";

/** One request by a plain client. Throws unless the text is echoed: a load tool checks less. */
export async function askOnce({ port, http, sent }: Target): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const answer = http === 1 ? await overHttp1(url, sent) : await overHttp2(url, sent);
  if (!answer.includes(MARKER)) throw new Error(`${sent.path}: answered ${answer.toString().slice(0, 2000)}`);
}

async function overHttp1(url: string, { path, headers, body }: Target["sent"]): Promise<Buffer> {
  const answer = await request(url + path, { method: "POST", headers, body });
  return Buffer.from(await answer.body.arrayBuffer());
}

function overHttp2(url: string, { path, headers, body }: Target["sent"]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const session = connect(url);
    session.on("error", reject);
    const call = session.request({ ...headers, ":method": "POST", ":path": path });
    const pieces: Buffer[] = [];
    call.on("error", reject);
    call.on("data", (piece: Buffer) => pieces.push(piece));
    call.on("close", () => {
      session.close();
      resolve(Buffer.concat(pieces));
    });
    call.end(body);
  });
}
