import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { JsonObject } from "../src/envelope/index.js";

/** A request that triggers a fault. */
export interface Hit {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** The id of the JSON-RPC request. */
  readonly id: unknown;
  readonly url: string;
}

/** One fault at one kind of request; every other request is answered correctly. */
export interface Fault {
  readonly name: string;
  readonly what: string;
  readonly at: "card" | "send" | "stream";
  answer(hit: Hit): void;
}

/** A running server that injects one fault. */
export interface MisbehavingServer {
  readonly url: string;
  /** The number of requests that triggered the fault. */
  hits(): number;
  /** The number of requests to the target of a redirect. */
  canary(): number;
  close(): void;
}

export const CARD = {
  name: "misbehaving",
  description: "answers as its fault says",
  version: "1.0.0",
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "misbehaves", tags: ["fault"] }],
} as const;

export const JSON_TYPE = { "content-type": "application/json" };
export const REPLY = { message: { messageId: "m-1", contextId: "c-1", role: "ROLE_AGENT", parts: [{ text: "pong" }] } };

/** A complete JSON-RPC response. */
export function rpc(id: unknown, members: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...members });
}

export function cardWith(
  interfaces: readonly { readonly url: string; readonly protocolBinding: string; readonly protocolVersion: string }[],
): string {
  return JSON.stringify({ ...CARD, supportedInterfaces: interfaces });
}

const BODY_BYTES = 1024 * 1024;

/** Starts an A2A server with one fault on a free loopback port. */
export async function startMisbehaving(fault: Fault): Promise<MisbehavingServer> {
  let hits = 0;
  let canary = 0;
  let url = "";
  const sockets = new Set<Socket>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/canary") {
      canary++;
      return void response.writeHead(200, JSON_TYPE).end("{}");
    }
    const { target, method, id } = await targetOf(request);
    const hit: Hit = { response, socket: request.socket, id, url };
    if (target === fault.at) {
      hits++;
      return fault.answer(hit);
    }
    behave(target, method, hit);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  return {
    url,
    hits: () => hits,
    canary: () => canary,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface RequestTarget {
  readonly target: Fault["at"] | "elsewhere";
  readonly method: string;
  readonly id: unknown;
}

async function targetOf(request: IncomingMessage): Promise<RequestTarget> {
  if (request.url?.startsWith("/.well-known/agent-card.json")) return { target: "card", method: "", id: undefined };
  if (request.url !== "/rpc") return { target: "elsewhere", method: "", id: undefined };
  let body = "";
  for await (const chunk of request) {
    body += chunk;
    if (body.length > BODY_BYTES) throw new Error("request body too large");
  }
  try {
    const { method, id } = JSON.parse(body) as { readonly method?: unknown; readonly id?: unknown }; // members are checked on use
    const targets: { readonly [method: string]: Fault["at"] } = { SendMessage: "send", SendStreamingMessage: "stream" };
    return { target: targets[String(method)] ?? "elsewhere", method: String(method), id };
  } catch {
    return { target: "elsewhere", method: "", id: undefined };
  }
}

/** The correct responses, as far as a client needs them before the fault. */
function behave(target: RequestTarget["target"], method: string, { response, id, url }: Hit): void {
  if (target === "card")
    return void response
      .writeHead(200, JSON_TYPE)
      .end(cardWith([{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }]));
  if (target === "send") return void response.writeHead(200, JSON_TYPE).end(rpc(id, { result: REPLY }));
  if (target === "stream") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    return void response.end(`data: ${rpc(id, { result: REPLY })}\n\n`);
  }
  if (method === "GetTask") {
    const data = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" }];
    return void response.writeHead(200, JSON_TYPE).end(rpc(id, { error: { code: -32001, message: "no such task", data } }));
  }
  if (method === "") return void response.writeHead(404).end();
  response.writeHead(200, JSON_TYPE).end(rpc(id, { error: { code: -32601, message: "no such method" } }));
}
