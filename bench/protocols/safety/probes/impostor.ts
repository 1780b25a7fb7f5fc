import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, DEFAULT_CIPHERS } from "node:tls";
import { listenLocally } from "../controls/http.js";
import { errorsOf } from "../members/tasks.js";

/** The answer of an impostor, which is of no protocol. */
const ANSWER = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const SHOWN_CHARS = 4_096;

/** A server at the place of another: with a certificate of its own, or in clear. It records what a client tells it. */
export class Impostor {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #errors: string[] = [];
  #request: string | null = null;
  #connections = 0;
  #port = 0;

  private constructor(pair: { readonly cert: string; readonly key: string } | undefined) {
    const accept = (socket: Socket): void => this.#accept(socket);
    // Level 0: it uses keys that no honest server would.
    this.#server =
      pair === undefined ? createServer(accept) : createTlsServer({ ...pair, ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` }, accept);
    this.#server.on("tlsClientError", (error) => this.#errors.push(...errorsOf(error)));
    this.#server.on("connection", (socket) => {
      this.#connections++;
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  static async open(pair: { readonly cert: string; readonly key: string } | undefined): Promise<Impostor> {
    const impostor = new Impostor(pair);
    impostor.#port = await listenLocally(impostor.#server);
    return impostor;
  }

  get port(): number {
    return this.#port;
  }

  /** The first request of a client that believed it, and the errors of the others. */
  get seen(): { readonly connections: number; readonly request: string | null; readonly errors: readonly string[] } {
    return { connections: this.#connections, request: this.#request, errors: this.#errors };
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    socket.on("error", (error) => this.#errors.push(...errorsOf(error)));
    socket.on("data", (piece: Buffer) => {
      const text = piece.toString("latin1");
      // The hello of a TLS client, at an impostor in clear, is no request.
      if (/^[A-Z]{3,7} /.test(text)) this.#request ??= text.slice(0, SHOWN_CHARS);
      socket.end(ANSWER);
    });
  }
}
