import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { answerClearText } from "./bad-http.js";
import type { HttpHandler } from "./http-handler.js";
import type { TlsServer } from "./http1-server.js";
import { Http2Connection } from "./http2-connection.js";
import { sniff, type WireProtocol } from "./sniff.js";

/**
 * Where connections arrive. The server that listens is Node's own, because only connections it accepted itself are under
 * its time limits; its listeners are called once it is known what is spoken, and HTTP/2 is served beside it. Knows all
 * connections that Node's server does not: silent ones, those in a handshake, and HTTP/2.
 */
export class ConnectionDispatcher {
  readonly #door: HttpHandler;
  readonly #strangers = new Map<string, Socket>();
  readonly #http2 = new Set<Http2Connection>();

  constructor(door: HttpHandler) {
    this.#door = door;
  }

  receive(server: Server): void {
    const accept = takeListeners(server, "connection");
    server.on("connection", (socket: Socket) => {
      this.#hear(socket, (spoken) => {
        this.#strangers.delete(nameOf(socket));
        if (spoken === "http2") this.#takeHttp2(socket);
        else accept(socket);
      });
    });
  }

  receiveTls(server: TlsServer): void {
    const shakeHands = takeListeners(server, "connection");
    server.on("connection", (socket: Socket) => {
      this.#hear(socket, (spoken) => {
        if (spoken === "tls") shakeHands(socket);
        else answerClearText(socket);
      });
    });
    const accept = takeListeners(server, "secureConnection");
    server.on("secureConnection", (socket: TLSSocket) => {
      // The address is the same as that of the socket below, which Node does not show.
      this.#strangers.delete(nameOf(socket));
      if (socket.alpnProtocol === "h2") this.#takeHttp2(socket);
      else accept(socket);
    });
  }

  /** Ends what is idle; what is under way hears that it is the last. */
  close(): void {
    for (const socket of this.#strangers.values()) socket.destroy();
    for (const connection of this.#http2) connection.close();
  }

  destroy(): void {
    for (const connection of this.#http2) connection.destroy();
  }

  #hear(socket: Socket, heard: (spoken: WireProtocol) => void): void {
    const name = nameOf(socket);
    this.#strangers.set(name, socket);
    socket.on("close", () => {
      if (this.#strangers.get(name) === socket) this.#strangers.delete(name);
    });
    sniff(socket, this.#door.limits.firstByteMs, (spoken) => {
      if (spoken !== undefined) heard(spoken);
    });
  }

  #takeHttp2(socket: Socket): void {
    if (this.#door.closing) socket.destroy();
    else this.#http2.add(new Http2Connection(this.#door, socket, (connection) => this.#http2.delete(connection)));
  }
}

/** Takes away what a server does by itself at an event, to be done at the right time. */
function takeListeners(server: Server, event: string): (socket: Socket) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

/** Who is at the other end: one at a time per port of ours. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
