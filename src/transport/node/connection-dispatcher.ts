import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Maybe } from "../../envelope/index.js";
import type { HandshakeSink } from "../exchange.js";
import { networkOf } from "../ip-address.js";
import { respondToPlainText } from "./bad-http.js";
import { HandshakeQueue } from "./handshake-queue.js";
import type { HttpHandler } from "./http-handler.js";
import type { TlsServer } from "./http1-server.js";
import { Http2Connection } from "./http2-connection.js";
import { type ProxyHeader, proxiedBy, setProxied, takeProxyHeader } from "./proxy-header.js";
import { sniff, type WireProtocol } from "./sniff.js";
import { UpgradeHandler } from "./upgrade-handler.js";
import { headWithoutUpgrade, opensWebSocket, owesResponse } from "./websocket-handshake.js";

/** What a connection without a request gets at shutdown to send one and to read its refusal. */
export const LAST_REQUEST_MS = 250;

/**
 * Dispatches new connections to HTTP/1.1 or HTTP/2. The listening server is Node's own, because it applies its time limits only to
 * connections that it accepted itself; its listeners run once the protocol is known, and HTTP/2 and WebSockets are served beside it.
 * Tracks all connections that Node's server does not: silent ones, handshakes, HTTP/2 and WebSockets.
 */
export class ConnectionDispatcher {
  readonly #handler: HttpHandler;
  readonly #open = new Set<Socket>();
  /** Those without a request. */
  readonly #silent = new Map<string, Socket>();
  /** TLS sockets of HTTP/1.1 among them: Node's server has them, but does not count them as idle. */
  readonly #silentTls = new WeakSet<Socket>();
  /** The PROXY headers of TLS connections during their handshake, which gives them another socket. */
  readonly #proxied = new Map<string, ProxyHeader>();
  readonly #http2 = new Set<Http2Connection>();
  readonly #upgrades: UpgradeHandler;
  /** One for all sockets: a closure of each would keep what it needed to become known. */
  readonly #onClose: (this: Socket) => void;

  constructor(handler: HttpHandler) {
    this.#handler = handler;
    const closed = (socket: Socket): void => this.#closed(socket);
    this.#onClose = function () {
      closed(this);
    };
    this.#upgrades = new UpgradeHandler(handler);
  }

  attach(server: Server): void {
    const accept = takeListeners(server, "connection");
    server.on("connection", (socket: Socket) => {
      this.#detect(socket, (protocol) => {
        this.#silent.delete(peerOf(socket));
        if (protocol === "http2") this.#acceptHttp2(socket);
        else accept(socket);
      });
    });
    this.#serveUpgrades(server, accept);
  }

  attachTls(server: TlsServer, sink?: Maybe<HandshakeSink>): void {
    const handshake = takeListeners(server, "connection");
    const handshakes = new HandshakeQueue(this.#handler.limits, sink);
    server.on("connection", (socket: Socket) => {
      this.#detect(socket, (protocol) => {
        if (protocol !== "tls") respondToPlainText(socket);
        else {
          const network = networkOf(proxiedBy(socket)?.source ?? socket.remoteAddress ?? "");
          handshakes.add({ id: peerOf(socket), network, socket, begin: () => handshake(socket) });
        }
      });
    });
    const accept = takeListeners(server, "secureConnection");
    server.on("secureConnection", (socket: TLSSocket) => {
      // The address equals that of the underlying socket, which Node does not expose.
      const peer = peerOf(socket);
      handshakes.done(peer);
      const header = this.#proxied.get(peer);
      if (header !== undefined) setProxied(socket, header);
      if (socket.alpnProtocol === "h2") {
        this.#silent.delete(peer);
        this.#acceptHttp2(socket);
      } else {
        this.#silentTls.add(socket);
        accept(socket);
      }
    });
    for (const event of ["request", "checkContinue", "upgrade"]) {
      server.on(event, ({ socket }: IncomingMessage) => {
        if (this.#silentTls.delete(socket)) this.#silent.delete(peerOf(socket));
      });
    }
    this.#serveUpgrades(server, accept);
  }

  /**
   * Closes idle connections; active ones are marked as the last. Resolves when those are closed. Connections that are silent, and those
   * that are accepted later, are not waited for: they may send a request, which is refused.
   */
  async close(): Promise<void> {
    const silent = new Set(this.#silent.values());
    for (const socket of silent) this.#closeIfSilent(socket);
    const closed = [...this.#open].filter((socket) => !silent.has(socket)).map((socket) => onceClosed(socket));
    for (const connection of this.#http2) connection.close();
    this.#upgrades.close();
    await Promise.all(closed);
  }

  /** Disconnects all that Node's server does not know, silent ones included. */
  destroy(): void {
    for (const connection of this.#http2) connection.destroy();
    this.#upgrades.destroy();
    for (const socket of this.#silent.values()) socket.destroy();
  }

  #closeIfSilent(socket: Socket): void {
    const peer = peerOf(socket);
    const end = setTimeout(() => {
      if (this.#silent.get(peer) === socket) socket.destroy();
    }, LAST_REQUEST_MS);
    socket.once("close", () => clearTimeout(end));
  }

  #closed(socket: Socket): void {
    this.#open.delete(socket);
    const peer = peerOf(socket);
    if (this.#silent.get(peer) === socket) this.#silent.delete(peer);
  }

  #detect(socket: Socket, onProtocol: (protocol: WireProtocol) => void): void {
    const peer = peerOf(socket);
    this.#open.add(socket);
    this.#silent.set(peer, socket);
    if (this.#handler.closing) this.#closeIfSilent(socket);
    socket.on("close", this.#onClose);
    const { proxies, limits } = this.#handler;
    const detect = (): void =>
      sniff(socket, limits.firstByteMs, (protocol) => {
        if (protocol !== undefined) onProtocol(protocol);
      });
    if (proxies?.by !== "proxy-protocol" || !proxies.trusts(socket.remoteAddress)) {
      detect();
      return;
    }
    takeProxyHeader(socket, limits.firstByteMs, (header) => {
      setProxied(socket, header);
      this.#proxied.set(peer, header);
      socket.on("close", () => this.#proxied.delete(peer));
      detect();
    });
  }

  /** Node hands over every request with `Upgrade`. Those that open no WebSocket are put back without it, as if they had just arrived. */
  #serveUpgrades(server: Server, accept: (socket: Socket) => void): void {
    server.on("upgrade", (req: IncomingMessage, socket: Socket, head: Buffer) => {
      if (opensWebSocket(req)) this.#upgrades.handle(req, socket, head);
      else if (owesResponse(socket)) socket.destroy();
      else {
        socket.unshift(Buffer.concat([headWithoutUpgrade(req), head]));
        accept(socket);
      }
    });
  }

  #acceptHttp2(socket: Socket): void {
    const connection = new Http2Connection(this.#handler, socket, (ended) => this.#http2.delete(ended));
    this.#http2.add(connection);
    if (this.#handler.closing) connection.refuse(LAST_REQUEST_MS);
  }
}

/** Removes and returns the server's own listeners of an event, to be called later. */
function takeListeners(server: Server, event: string): (socket: Socket) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

function onceClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

/** Identifies the peer: unique per local port. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
