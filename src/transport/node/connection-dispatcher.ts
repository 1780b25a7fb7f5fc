import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { respondToPlainText } from "./bad-http.js";
import type { HttpHandler } from "./http-handler.js";
import type { TlsServer } from "./http1-server.js";
import { Http2Connection } from "./http2-connection.js";
import { sniff, type WireProtocol } from "./sniff.js";

/**
 * Dispatches new connections to HTTP/1.1 or HTTP/2. The listening server is Node's own, because it applies its time limits only to
 * connections that it accepted itself; its listeners run once the protocol is known, and HTTP/2 is served beside it. Tracks all
 * connections that Node's server does not: silent ones, handshakes and HTTP/2.
 */
export class ConnectionDispatcher {
  readonly #handler: HttpHandler;
  readonly #unidentified = new Map<string, Socket>();
  readonly #http2 = new Set<Http2Connection>();

  constructor(handler: HttpHandler) {
    this.#handler = handler;
  }

  attach(server: Server): void {
    const accept = takeListeners(server, "connection");
    server.on("connection", (socket: Socket) => {
      this.#detect(socket, (protocol) => {
        this.#unidentified.delete(peerOf(socket));
        if (protocol === "http2") this.#acceptHttp2(socket);
        else accept(socket);
      });
    });
  }

  attachTls(server: TlsServer): void {
    const handshake = takeListeners(server, "connection");
    server.on("connection", (socket: Socket) => {
      this.#detect(socket, (protocol) => {
        if (protocol === "tls") handshake(socket);
        else respondToPlainText(socket);
      });
    });
    const accept = takeListeners(server, "secureConnection");
    server.on("secureConnection", (socket: TLSSocket) => {
      // The address equals that of the underlying socket, which Node does not expose.
      this.#unidentified.delete(peerOf(socket));
      if (socket.alpnProtocol === "h2") this.#acceptHttp2(socket);
      else accept(socket);
    });
  }

  /** Closes idle connections; active ones are marked as the last. */
  close(): void {
    for (const socket of this.#unidentified.values()) socket.destroy();
    for (const connection of this.#http2) connection.close();
  }

  destroy(): void {
    for (const connection of this.#http2) connection.destroy();
  }

  #detect(socket: Socket, onProtocol: (protocol: WireProtocol) => void): void {
    const peer = peerOf(socket);
    this.#unidentified.set(peer, socket);
    socket.on("close", () => {
      if (this.#unidentified.get(peer) === socket) this.#unidentified.delete(peer);
    });
    sniff(socket, this.#handler.limits.firstByteMs, (protocol) => {
      if (protocol !== undefined) onProtocol(protocol);
    });
  }

  #acceptHttp2(socket: Socket): void {
    if (this.#handler.closing) socket.destroy();
    else this.#http2.add(new Http2Connection(this.#handler, socket, (connection) => this.#http2.delete(connection)));
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

/** Identifies the peer: unique per local port. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
