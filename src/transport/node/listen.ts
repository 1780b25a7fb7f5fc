import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError, type Maybe } from "../../envelope/index.js";
import type { Exchange, HandshakeSink, Intake, RequestHead } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { ConnectionDispatcher, LAST_REQUEST_MS } from "./connection-dispatcher.js";
import { HttpHandler } from "./http-handler.js";
import { plainServer, tlsServer } from "./http1-server.js";
import { clientPolicy, contextOptions, type TlsOptions } from "./tls.js";
import type { TrustedProxies } from "./trusted-proxies.js";

/** Options of `listen`. */
export interface ListenOptions {
  /** 0 selects any free port. */
  readonly port: number;
  /** The address to bind. Default: `127.0.0.1`. */
  readonly host?: Maybe<string>;
  /** Size and time limits. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Maybe<Limits>;
  /** Without it the port is plain text. */
  readonly tls?: Maybe<TlsOptions>;
  /** Reverse proxies in front. Default: none, so a caller's address is that of its socket. */
  readonly trustedProxies?: Maybe<TrustedProxies>;
  /** Requests that are served while the listener closes, as health checks are. Default: none. */
  readonly servesWhileClosing?: Maybe<(head: RequestHead) => boolean>;
  /** Counts connections that wait for their TLS handshake. */
  readonly handshakes?: Maybe<HandshakeSink>;
  /** Receives errors of the exchange and its streams. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

/** An open port. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly address: string;
  /**
   * Replaces the certificate for new connections; open ones keep theirs. Throws AgentError `invalid_message` and keeps the current one
   * if the new one is not usable.
   */
  reload(tls: TlsOptions): void;
  /**
   * Lets running calls end within `drainMs`, then stops accepting and disconnects. Until then new requests are refused with 503, on new
   * connections too. `drained`: also waited for, within `drainMs`.
   */
  close(drained?: Promise<unknown>): Promise<void>;
}

/** Connections that wait to be accepted: a crowd that arrives at once. Linux allows `net.core.somaxconn`, by default as many. */
const ACCEPT_BACKLOG = 4_096;

/** How often a shutdown checks for connections that became idle. */
const SHUTDOWN_TICK_MS = 25;

/** Serves an exchange on a TCP port: HTTP/1.1 and HTTP/2, plain or under TLS. */
export async function listen(served: Exchange | Intake, options: ListenOptions): Promise<Listening> {
  const {
    host = "127.0.0.1",
    port: requestedPort,
    tls,
    limits = DEFAULT_LIMITS,
    onError,
    trustedProxies,
    servesWhileClosing,
    handshakes,
  } = options;
  const handler = new HttpHandler(served, { limits, onError, trustedProxies, servesWhileClosing });
  const dispatcher = new ConnectionDispatcher(handler);
  const { server, reload } = tls === undefined ? servePlain(handler, dispatcher) : serveTls(handler, dispatcher, tls, handshakes);
  await bind(server, requestedPort, host);
  // Failing to accept a connection, for lack of memory or descriptors, must not end the process.
  server.on("error", (error) => handler.report(error));
  const { address, port } = server.address() as AddressInfo; // bound to TCP, so it is not a pipe's name
  const url = `${tls === undefined ? "http" : "https"}://${nameOf(address)}:${port}`;
  let closed: Maybe<Promise<void>>;
  const close = (drained?: Promise<unknown>): Promise<void> => {
    closed ??= shutDown(server, handler, dispatcher, drained);
    return closed;
  };
  return { url, port, address, reload, close };
}

interface ServerWithReload {
  readonly server: Server;
  reload(tls: TlsOptions): void;
}

function servePlain(handler: HttpHandler, dispatcher: ConnectionDispatcher): ServerWithReload {
  const server = plainServer(handler);
  dispatcher.attach(server);
  const reload = (): never => {
    throw new AgentError("invalid_message", "this port was opened without TLS, so there is no certificate to replace");
  };
  return { server, reload };
}

function serveTls(
  handler: HttpHandler,
  dispatcher: ConnectionDispatcher,
  initial: TlsOptions,
  handshakes: Maybe<HandshakeSink>,
): ServerWithReload {
  const server = tlsServer(handler, initial);
  dispatcher.attachTls(server, handshakes);
  const policy = clientPolicy(initial);
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
    server.listen({ port, host, backlog: ACCEPT_BACKLOG }, resolve);
  });
  server.removeAllListeners("error");
}

function cannotListen(error: NodeJS.ErrnoException, port: number, host: string): AgentError {
  const why: { readonly [code: string]: string } = {
    EADDRINUSE: "the address is already in use",
    EACCES: "permission denied",
    EADDRNOTAVAIL: "the address is not available on this machine",
  };
  const reason = why[error.code ?? ""] ?? error.message;
  return new AgentError("unavailable", `cannot listen on ${nameOf(host)}:${port}: ${reason} (${error.code})`, { cause: error });
}

/** The address in URL form; the wildcard is reached through loopback. */
function nameOf(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  if (address === "::") return "[::1]";
  return address.includes(":") ? `[${address}]` : address;
}

async function shutDown(
  server: Server,
  handler: HttpHandler,
  dispatcher: ConnectionDispatcher,
  drained: Maybe<Promise<unknown>>,
): Promise<void> {
  handler.closing = true;
  const disconnect = (): void => {
    server.closeAllConnections();
    dispatcher.destroy();
  };
  const cut = setTimeout(disconnect, handler.limits.drainMs);
  const tick = setInterval(() => server.closeIdleConnections(), SHUTDOWN_TICK_MS);
  const called = dispatcher.close();
  server.closeIdleConnections();
  await Promise.all([called, settledWithin(drained, handler.limits.drainMs)]);
  // What is left came while the server drained.
  const last = setTimeout(disconnect, LAST_REQUEST_MS);
  // An error only means that it was closed before.
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(tick);
  clearTimeout(cut);
  clearTimeout(last);
}

async function settledWithin(work: Maybe<Promise<unknown>>, ms: number): Promise<void> {
  if (work === undefined) return;
  await new Promise<void>((resolve) => {
    const end = setTimeout(resolve, ms);
    const settled = (): void => {
      clearTimeout(end);
      resolve();
    };
    work.then(settled, settled);
  });
}
