import { createServer, connect as dial, type Socket } from "node:net";

/** What the proxy does with the bytes of the server. Held bytes are forwarded once it is open again. */
export type Stall = "open" | "silent" | "head" | "trickle";

/** A TCP proxy that can stall: it accepts connections and forwards nothing, or little. */
export interface StallingProxy {
  readonly url: string;
  /** Applies to open connections too. */
  stall(how: Stall): void;
  /** Ends every open connection. Resolves when the next one is made. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

const CRUMB_EVERY_MS = 1_000;
/** Without an HTTP/1 head, as in HTTP/2: the first frames, and no whole answer. */
const HEAD_BYTES = 40;

/** Works on bytes, so it serves any protocol. `port` is called for each connection. */
export async function startStallingProxy(port: () => number): Promise<StallingProxy> {
  const connections = new Set<ProxiedConnection>();
  let how: Stall = "open";
  let made: () => void = () => undefined;
  const server = createServer((client) => {
    const connection = new ProxiedConnection(client, dial(port(), "127.0.0.1"), () => connections.delete(connection));
    connection.how = how;
    connections.add(connection);
    made();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const crumbs = setInterval(() => {
    for (const connection of connections) connection.crumb();
  }, CRUMB_EVERY_MS);
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    stall(now) {
      how = now;
      for (const connection of connections) connection.change(now);
    },
    cut() {
      const next = new Promise<void>((resolve) => {
        made = resolve;
      });
      for (const connection of connections) connection.end();
      return next;
    },
    async close() {
      clearInterval(crumbs);
      for (const connection of connections) connection.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection through the proxy. */
class ProxiedConnection {
  how: Stall = "open";
  #kept: Buffer = Buffer.alloc(0);
  #headGiven = false;
  readonly #front: Socket;
  readonly #back: Socket;

  constructor(client: Socket, back: Socket, ended: () => void) {
    this.#front = client;
    this.#back = back;
    for (const socket of [client, back]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.end();
        ended();
      });
    }
    client.pipe(back);
    back.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  change(how: Stall): void {
    this.how = how;
    this.#headGiven = false;
    if (how === "open") this.#give(this.#kept.length);
  }

  crumb(): void {
    if (this.how === "trickle") this.#give(1);
  }

  end(): void {
    this.#front.destroy();
    this.#back.destroy();
  }

  #take(chunk: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, chunk]);
    if (this.how === "open") this.#give(this.#kept.length);
    if (this.how !== "head" || this.#headGiven) return;
    this.#headGiven = true;
    const end = this.#kept.indexOf("\r\n\r\n");
    this.#give(end < 0 ? HEAD_BYTES : end + 4);
  }

  #give(bytes: number): void {
    if (bytes > 0 && !this.#front.destroyed) this.#front.write(this.#kept.subarray(0, bytes));
    this.#kept = this.#kept.subarray(bytes);
  }
}
