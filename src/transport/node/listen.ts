import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError, type Maybe } from "../../envelope/index.js";
import type { Exchange } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { ConnectionDispatcher } from "./connection-dispatcher.js";
import { HttpHandler } from "./http-handler.js";
import { clearServer, tlsServer } from "./http1-server.js";
import { clientPolicy, contextOptions, type TlsOptions } from "./tls.js";

export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: Maybe<string>;
  readonly limits?: Maybe<Limits>;
  /** Without it everything is in clear. */
  readonly tls?: Maybe<TlsOptions>;
  /** What the exchange or one of its streams threw. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly address: string;
  /**
   * Another certificate for new connections; open ones go on with theirs. Throws AgentError `invalid_message`, and keeps
   * the one in use, when the new one cannot be.
   */
  reload(tls: TlsOptions): void;
  /** Accepts nothing new, lets calls under way end within `drainMs`, then cuts. */
  close(): Promise<void>;
}

/** How often a shutdown looks for connections that became idle. */
const SHUTDOWN_TICK_MS = 25;

/** An exchange on a TCP port: HTTP/1.1 and HTTP/2, in clear or under TLS. */
export async function listen(exchange: Exchange, options: ListenOptions): Promise<Listening> {
  const { host = "127.0.0.1", port: wanted, tls } = options;
  const door = new HttpHandler(exchange, { limits: options.limits ?? DEFAULT_LIMITS, onError: options.onError });
  const reception = new ConnectionDispatcher(door);
  const { server, reload } = tls === undefined ? inClear(door, reception) : underTls(door, reception, tls);
  await bind(server, wanted, host);
  // A connection that cannot be accepted, for want of memory or of descriptors, must not end the process.
  server.on("error", (error) => door.report(error));
  const { address, port } = server.address() as AddressInfo; // bound to TCP, so it is not a pipe's name
  const url = `${tls === undefined ? "http" : "https"}://${nameOf(address)}:${port}`;
  return { url, port, address, reload, close: () => shutDown(server, door, reception) };
}

interface Serving {
  readonly server: Server;
  reload(tls: TlsOptions): void;
}

function inClear(door: HttpHandler, reception: ConnectionDispatcher): Serving {
  const server = clearServer(door);
  reception.receive(server);
  const reload = (): never => {
    throw new AgentError("invalid_message", "this port was opened without TLS, so there is no certificate to replace");
  };
  return { server, reload };
}

function underTls(door: HttpHandler, reception: ConnectionDispatcher, before: TlsOptions): Serving {
  const server = tlsServer(door, before);
  reception.receiveTls(server);
  const policy = clientPolicy(before);
  const reload = (tls: TlsOptions): void => {
    const { requestCert, rejectUnauthorized } = clientPolicy(tls);
    if (requestCert !== policy.requestCert || rejectUnauthorized !== policy.rejectUnauthorized) {
      const message = "TLS: whether clients are asked for a certificate cannot change while the port is open";
      throw new AgentError("invalid_message", message);
    }
    server.setSecureContext(contextOptions(tls));
  };
  return { server, reload };
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

async function shutDown(server: Server, door: HttpHandler, reception: ConnectionDispatcher): Promise<void> {
  door.closing = true;
  reception.close();
  await new Promise<void>((resolve) => {
    const tick = setInterval(() => server.closeIdleConnections(), SHUTDOWN_TICK_MS);
    const end = setTimeout(() => {
      server.closeAllConnections();
      reception.destroy();
    }, door.limits.drainMs);
    // An error only says that it was closed before.
    server.close(() => {
      clearInterval(tick);
      clearTimeout(end);
      resolve();
    });
  });
}
