import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Limits } from "../limits.js";
import { answerBadHttp } from "./bad-http.js";
import type { HttpHandler } from "./http-handler.js";
import { refuseEarly } from "./refuse-early.js";
import { clientPolicy, contextOptions, type TlsOptions } from "./tls.js";

export type { TlsServer };

/** Node's own server in clear, with its time limits set; requests go to the door. */
export function clearServer(door: HttpHandler): Server {
  return equip(createServer(serverOptions(door.limits)), door);
}

/** The same under TLS, which also offers HTTP/2. */
export function tlsServer(door: HttpHandler, tls: TlsOptions): TlsServer {
  const { limits } = door;
  const server = createTlsServer({
    ...serverOptions(limits),
    ...contextOptions(tls),
    ...clientPolicy(tls),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: limits.headersMs,
  });
  // A handshake that failed is no request: nothing that we could say in HTTP would be understood.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (_, socket: Socket) => socket.destroy());
  return equip(server, door);
}

function serverOptions(limits: Limits): ServerOptions {
  const headersTimeout = Math.min(limits.headersMs, limits.requestMs);
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(2_000, Math.max(25, Math.floor(headersTimeout / 5))),
    noDelay: true,
  };
}

function equip<S extends Server>(server: S, door: HttpHandler): S {
  server.maxConnections = door.limits.connections;
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
