import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { nextTurn } from "../a2a/workload.js";
import type { Answer, Asked, HttpVersion, Ports, Wire } from "./wires/wire.js";

/** The upstream of every arm: bare Node, one protocol, canned but valid answers. It counts requests. */
export interface Upstream {
  readonly ports: Ports;
  /** Messages received so far. */
  messages(): number;
  close(): void;
}

/** Listens in both versions of HTTP, so that every load tool can call it directly. */
export async function startUpstream(wire: Wire): Promise<Upstream> {
  let number = 0;
  let messages = 0;
  const ports: Record<HttpVersion, number> = { 1: 0, 2: 0 };
  const documents = () => wire.documents(ports);
  const answer = (method: string, path: string, body: Buffer): Answer => {
    const asked: Asked = { method, path, body, number: ++number };
    const document = method === "GET" ? documents()[path] : undefined;
    if (document !== undefined) return aside(200, JSON.stringify(document));
    const answered = wire.answer(asked) ?? aside(404, "{}");
    if (answered.kind === "one" || answered.kind === "events") messages++;
    return answered;
  };
  const http1 = createServer((request, response) => {
    readAll(request, (body) => void writeHttp1(response, answer(request.method ?? "", request.url ?? "", body)));
  });
  const http2 = createHttp2Server();
  http2.on("stream", (stream, headers) => {
    readAll(stream, (body) => void writeHttp2(stream, answer(headers[":method"] ?? "", headers[":path"] ?? "", body)));
  });
  http2.on("sessionError", () => {});
  for (const [version, server] of [
    [1, http1],
    [2, http2],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A listening TCP server has an address object.
    ports[version] = (server.address() as AddressInfo).port;
  }
  return {
    ports,
    messages: () => messages,
    close() {
      http1.close();
      http1.closeAllConnections();
      http2.close();
    },
  };
}

function aside(status: number, body: string): Answer {
  return { kind: "aside", status, contentType: "application/json", body };
}

function readAll(from: IncomingMessage | ServerHttp2Stream, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  from.on("error", () => {});
  from.on("data", (chunk: Buffer) => chunks.push(chunk));
  from.on("end", () => done(Buffer.concat(chunks)));
}

async function writeHttp1(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer.kind === "grpc-error") {
    response.writeHead(200, { "Content-Type": "application/grpc+proto", "grpc-status": answer.status }).end();
    return;
  }
  if (answer.kind !== "events") {
    const status = answer.kind === "aside" ? answer.status : 200;
    const { contentType, body } = answer;
    response.writeHead(status, { "Content-Type": contentType, "Content-Length": Buffer.byteLength(body) }).end(body);
    return;
  }
  response.writeHead(200, { "Content-Type": answer.contentType, "Cache-Control": "no-cache" });
  for (const event of answer.events) {
    response.write(event);
    await nextTurn();
  }
  response.end();
}

async function writeHttp2(stream: ServerHttp2Stream, answer: Answer): Promise<void> {
  if (answer.kind === "grpc-error") {
    stream.respond(
      { ":status": 200, "content-type": "application/grpc+proto", "grpc-status": answer.status },
      { endStream: true },
    );
    return;
  }
  const isGrpc = answer.contentType.startsWith("application/grpc");
  const status = answer.kind === "aside" ? answer.status : 200;
  stream.respond({ ":status": status, "content-type": answer.contentType }, { waitForTrailers: isGrpc });
  if (isGrpc) stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  if (answer.kind !== "events") {
    stream.end(answer.body);
    return;
  }
  for (const event of answer.events) {
    stream.write(event);
    await nextTurn();
  }
  stream.end();
}
