import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** Bytes that are kept of one direction of one connection; the rest is counted. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** Connections whose bytes are kept at a time. */
const KEPT_CONNECTIONS = 1_000;

/** What passed one connection. */
export interface TappedConnection {
  readonly toServer: Buffer;
  readonly toClient: Buffer;
}

interface Recording {
  readonly toServer: Buffer[];
  readonly toClient: Buffer[];
  kept: number;
}

/** A TCP proxy in the path that keeps every byte. It works below TLS, so it sees what a network sees. */
export class Tap {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #recordings: Recording[] = [];
  #target = 0;
  #port = 0;

  constructor() {
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (caller) => this.#accept(caller));
  }

  static async open(): Promise<Tap> {
    const tap = new Tap();
    await new Promise<void>((resolve, reject) => {
      tap.#server.once("error", reject);
      tap.#server.listen(0, "127.0.0.1", resolve);
    });
    const address = tap.#server.address();
    if (typeof address === "object" && address !== null) tap.#port = address.port;
    return tap;
  }

  get port(): number {
    return this.#port;
  }

  /** Where new connections lead. */
  set target(port: number) {
    this.#target = port;
  }

  get target(): number {
    return this.#target;
  }

  /** Ends the open connections: their next bytes would go to the target of before. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Forgets what was recorded. */
  clear(): void {
    for (const recording of this.#recordings) {
      recording.toServer.length = 0;
      recording.toClient.length = 0;
      recording.kept = 0;
    }
    this.#recordings = this.#recordings.slice(-KEPT_CONNECTIONS);
  }

  /** What has passed since then, by connection. */
  recorded(): readonly TappedConnection[] {
    return this.#recordings
      .map(({ toServer, toClient }) => ({ toServer: Buffer.concat(toServer), toClient: Buffer.concat(toClient) }))
      .filter(({ toServer, toClient }) => toServer.length + toClient.length > 0);
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #accept(caller: Socket): void {
    const agent = dial({ port: this.#target, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    const recording: Recording = { toServer: [], toClient: [], kept: 0 };
    this.#recordings.push(recording);
    join(caller, agent, (piece) => keep(recording, recording.toServer, piece));
    join(agent, caller, (piece) => keep(recording, recording.toClient, piece));
    for (const [socket, other] of [
      [caller, agent],
      [agent, caller],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        // What was sent before still arrives.
        if (!socket.readableEnded) other.destroy();
      });
    }
  }
}

function join(from: Socket, to: Socket, take: (piece: Buffer) => void): void {
  from.on("data", (piece: Buffer) => {
    take(piece);
    if (!to.destroyed && !to.write(piece)) from.pause();
  });
  from.on("end", () => to.end());
  to.on("drain", () => from.resume());
}

function keep(recording: Recording, pieces: Buffer[], piece: Buffer): void {
  if (recording.kept + piece.length > KEPT_BYTES) return;
  recording.kept += piece.length;
  pieces.push(piece);
}
