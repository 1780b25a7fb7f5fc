import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerCommands } from "../../../harness/worker.js";
import { IDLE_MS, nextTurn, type ServerAddress, type Shape, STREAM_EVENTS, type StartServer } from "../workload.js";

/** The least that Node can do with the same bytes: read, parse, build an answer of the same length, stringify, write. */

interface FloorMessage {
  readonly messageId: string;
  readonly parts: readonly { readonly text: string }[];
}
interface FloorRequest {
  readonly id?: number;
  readonly params?: { readonly message: FloorMessage };
  readonly message?: FloorMessage;
}

const NO_SHAPE: Shape = { rpcBytes: 0, restBytes: 0, taskBytes: 0, eventBytes: [] };

answerCommands({ start });

function start({ shape = NO_SHAPE }: StartServer): Promise<ServerAddress> {
  const pads = new Map([
    ["/rpc", padder(shape.rpcBytes)],
    ["/rest", padder(shape.restBytes)],
    ["/task", padder(shape.taskBytes)],
  ]);
  const eventPads = shape.eventBytes.map(padder);
  const server = createServer((request, response) => {
    readBody(request, (body) => {
      // The bench is the only caller and sends nothing else.
      const parsed = JSON.parse(body) as FloorRequest;
      const path = request.url ?? "/";
      if (path === "/stream") void streamEvents(response, events(parsed, eventPads, true));
      else if (path === "/burst") void streamEvents(response, events(parsed, eventPads, false));
      else if (path === "/hold") holdStream(response, parsed);
      else answerOnce(response, parsed, pads.get(path));
    });
  });
  server.keepAliveTimeout = IDLE_MS;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      // A listening TCP server has an address object.
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}`, port, rpcPath: "/rpc", restPath: "/rest" });
    });
  });
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const [only] = chunks;
    done(chunks.length === 1 && only !== undefined ? only.toString("utf8") : Buffer.concat(chunks).toString("utf8"));
  });
}

function answerOnce(response: ServerResponse, request: FloorRequest, pad: Padder | undefined): void {
  const text = JSON.stringify(echo(request, pad?.(request) ?? ""));
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

/** An async generator feeds the stream, as an agent does; the floor has no free ride there. */
async function* events(request: FloorRequest, pads: readonly Padder[], oneByOne: boolean) {
  for (let index = 0; index < STREAM_EVENTS; index++) {
    yield echo(request, pads[index]?.(request) ?? "");
    if (oneByOne) await nextTurn();
  }
}

async function streamEvents(response: ServerResponse, answers: ReturnType<typeof events>): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  for await (const event of answers) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function holdStream(response: ServerResponse, request: FloorRequest): void {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  response.write(`data: ${JSON.stringify(echo(request, ""))}\n\n`);
}

function echo(request: FloorRequest, pad: string) {
  const message = request.params?.message ?? request.message;
  return { id: request.id, messageId: message?.messageId, role: "ROLE_AGENT", parts: message?.parts, pad };
}

type Padder = (request: FloorRequest) => string;

/** Fills answers up to `bytes`. All requests of a path have one length, so the first one decides. */
function padder(bytes: number): Padder {
  let pad: string | undefined;
  return (request) => {
    pad ??= "x".repeat(Math.max(0, bytes - Buffer.byteLength(JSON.stringify(echo(request, "")))));
    return pad;
  };
}
