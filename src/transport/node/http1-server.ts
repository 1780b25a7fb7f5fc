import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Limits } from "../limits.js";
import { respondToBadHttp } from "./bad-http.js";
import type { HttpHandler } from "./http-handler.js";
import { https } from "./lazy-module.js";
import { clientPolicy, contextOptions, type TlsOptions } from "./tls.js";
import { opensWebSocket } from "./websocket-handshake.js";

export type { TlsServer };

/** Node's plain-text server with its time limits set. */
export function plainServer(handler: HttpHandler): Server {
  return configure(createServer(serverOptions(handler.limits)), handler);
}

/** The same under TLS, which also offers HTTP/2. */
export function tlsServer(handler: HttpHandler, tls: TlsOptions): TlsServer {
  const { limits } = handler;
  const server = https().createServer({
    ...serverOptions(limits),
    ...contextOptions(tls),
    ...clientPolicy(tls),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: limits.headersMs,
  });
  // A failed handshake is not a request: the peer could not read an HTTP response.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (_, socket: Socket) => socket.destroy());
  return configure(server, handler);
}

/** Since Node 24: requests it refuses are served as if they had no `Upgrade` field. Before, `ConnectionDispatcher` puts them back. */
interface UpgradeOptions {
  readonly shouldUpgradeCallback: (req: IncomingMessage) => boolean;
}

function serverOptions(limits: Limits): ServerOptions & UpgradeOptions {
  const headersTimeout = Math.min(limits.headersMs, limits.requestMs);
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(2_000, Math.max(25, Math.floor(headersTimeout / 5))),
    noDelay: true,
    shouldUpgradeCallback: opensWebSocket,
  };
}

function configure<S extends Server>(server: S, handler: HttpHandler): S {
  server.maxConnections = handler.limits.connections;
  server.on("request", (req: IncomingMessage, res: ServerResponse) => handler.handle(req, res));
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => handler.handle(req, res, undefined, true));
  server.on("clientError", respondToBadHttp);
  return server;
}
