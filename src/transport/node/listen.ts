import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AgentError, type ErrorCode, type Maybe } from "../../envelope/index.js";
import type { Exchange } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { errorResponse } from "../response.js";
import { Door } from "./door.js";
import { isOwedAnAnswer } from "./live-passages.js";
import { LINGER_MS, refuseEarly } from "./refuse-early.js";
import { sniff } from "./sniff.js";

export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: Maybe<string>;
  readonly limits?: Maybe<Limits>;
  /** What the exchange or one of its streams threw. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly address: string;
  /** Accepts nothing new, lets calls under way end within `drainMs`, then cuts. */
  close(): Promise<void>;
}

/** How often a shutdown looks for connections that became idle. */
const SHUTDOWN_TICK_MS = 25;

/** An exchange on a TCP port, HTTP/1.1. */
export async function listen(exchange: Exchange, options: ListenOptions): Promise<Listening> {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const host = options.host ?? "127.0.0.1";
  const door = new Door(exchange, { limits, onError: options.onError });
  const server = makeServer(door, limits);
  const silent = watchFirstBytes(server, limits);
  await bind(server, options.port, host);
  const { address, port } = server.address() as AddressInfo; // bound to TCP, so it is not a pipe's name
  return { url: `http://${nameOf(address)}:${port}`, port, address, close: () => shutDown(server, door, silent) };
}

function makeServer(door: Door, limits: Limits): Server {
  const headersTimeout = Math.min(limits.headersMs, limits.requestMs);
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(2_000, Math.max(25, Math.floor(headersTimeout / 5))),
    noDelay: true,
  });
  server.maxConnections = limits.connections;
  server.on("request", (req: IncomingMessage, res: ServerResponse) => door.enter(req, res));
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    const refusal = door.refusal(req);
    if (refusal === undefined) {
      res.writeContinue();
      door.enter(req, res);
    } else refuseEarly(req, res, refusal);
  });
  server.on("clientError", answerBadHttp);
  return server;
}

/**
 * The server that listens is Node's own, because only connections it accepted itself are under its time limits; its
 * connection listener is called once the first bytes have shown what is spoken. HTTP/2 will be handed on here.
 */
function watchFirstBytes(server: Server, limits: Limits): Set<Socket> {
  const silent = new Set<Socket>();
  const accept = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    silent.add(socket);
    sniff(socket, limits.firstByteMs, {
      http1: (sniffed) => {
        silent.delete(sniffed);
        for (const listener of accept) listener.call(server, sniffed);
      },
      http2: (sniffed) => {
        silent.delete(sniffed);
        writeRaw(sniffed, 505, new AgentError("unsupported", "HTTP/2 is not spoken here; use HTTP/1.1"));
      },
      nothing: (sniffed) => silent.delete(sniffed),
    });
  });
  return silent;
}

const BAD_HTTP: { readonly [code: string]: readonly [status: number, code: ErrorCode, message: string] } = {
  HPE_HEADER_OVERFLOW: [431, "too_large", "the request's headers are too long"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "too_large", "the request's chunk extensions are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "deadline", "the request did not arrive in time"],
};

/** Bytes that are not a request. While an earlier request waits for its answer nothing can be said without lying to it. */
function answerBadHttp(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (socket.writableEnded) return;
  if (!socket.writable || error.code === "ECONNRESET" || isOwedAnAnswer(socket as Socket)) {
    socket.destroy(); // a server of ours serves sockets only
    return;
  }
  const [status, code, message] = BAD_HTTP[error.code ?? ""] ?? [400, "invalid_message", "this is not an HTTP/1.1 request"];
  writeRaw(socket, status, new AgentError(code, message));
}

function writeRaw(socket: Duplex, status: number, error: AgentError): void {
  const body = String(errorResponse(status, error).body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.on("error", () => undefined);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, port, host)));
    server.listen(port, host, resolve);
  });
  server.removeAllListeners("error");
}

function cannotListen(error: NodeJS.ErrnoException, port: number, host: string): AgentError {
  const why: { readonly [code: string]: string } = {
    EADDRINUSE: "another program listens there",
    EACCES: "this user may not",
    EADDRNOTAVAIL: "this machine does not have that address",
  };
  const reason = why[error.code ?? ""] ?? error.message;
  return new AgentError("unavailable", `cannot listen at ${nameOf(host)}:${port}: ${reason} (${error.code})`, { cause: error });
}

/** An address as it stands in a URL; the wildcard is reached by loopback. */
function nameOf(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  if (address === "::") return "[::1]";
  return address.includes(":") ? `[${address}]` : address;
}

async function shutDown(server: Server, door: Door, silent: ReadonlySet<Socket>): Promise<void> {
  door.closing = true;
  for (const socket of silent) socket.destroy();
  await new Promise<void>((resolve) => {
    const tick = setInterval(() => server.closeIdleConnections(), SHUTDOWN_TICK_MS);
    const end = setTimeout(() => server.closeAllConnections(), door.limits.drainMs);
    // An error only says that it was closed before.
    server.close(() => {
      clearInterval(tick);
      clearTimeout(end);
      resolve();
    });
  });
}
