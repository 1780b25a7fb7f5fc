import type { Socket } from "node:net";
import {
  openSocket,
  type RequestTemplate,
  runHttpLoad,
  runHttpTurns,
  sendMany,
  type Turns,
  type Wire,
  writeRequest,
} from "../../../harness/http-load.js";
import { openHttp2, pumpHttp2 } from "../../../harness/http2-load.js";
import type { Slice, Window } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { CONNECTIONS } from "../workload.js";

/** The load process of the server-alone arms: raw sockets, nothing of ours and nothing of the SDK. */

/** So many streams are being opened at once, well below a listener's queue. */
const OPENING = 50;

const held: Socket[] = [];

const HTTP2: Wire = { open: openHttp2, pump: pumpHttp2 };

answerCommands({
  run,
  turns: (turns: Turns) => runHttpTurns(turns),
  "run over HTTP/2": (load: Load) => run(load, HTTP2),
  "turns over HTTP/2": (turns: Turns) => runHttpTurns(turns, HTTP2),
  many,
  hold,
  release,
});

interface Load {
  readonly template: RequestTemplate;
  readonly window: Window;
}

function run({ template, window }: Load, wire?: Wire): Promise<Slice> {
  return runHttpLoad(template, CONNECTIONS, window, wire);
}

function many({ template, requests }: { readonly template: RequestTemplate; readonly requests: number }): Promise<void> {
  return sendMany(template, CONNECTIONS, requests);
}

/** Opens streams and leaves them open once each has shown its first event. */
async function hold({ template, count }: { readonly template: RequestTemplate; readonly count: number }): Promise<number> {
  for (let opened = 0; opened < count; opened += OPENING) {
    const batch = Math.min(OPENING, count - opened);
    held.push(...(await Promise.all(Array.from({ length: batch }, (_, index) => openStream(template, opened + index)))));
  }
  return held.length;
}

function release(): void {
  for (const socket of held.splice(0)) socket.destroy();
}

async function openStream(template: RequestTemplate, number: number): Promise<Socket> {
  const socket = await openSocket(template.port);
  const { bytes, counterAt } = writeRequest(template);
  bytes.write(String(number).padStart(template.counter.length, "0"), counterAt, "latin1");
  return new Promise((resolve, reject) => {
    let seen = "";
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`${template.path}: the server closed the stream: ${seen}`)));
    socket.on("data", (chunk) => {
      if (seen.length < 10_000) seen += chunk.toString("latin1");
      if (seen.includes("data:")) resolve(socket);
    });
    socket.write(bytes);
  });
}
