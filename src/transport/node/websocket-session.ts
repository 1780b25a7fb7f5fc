import type { Socket } from "node:net";
import type { ServerOptions, WebSocket } from "ws";
import { BaseSession, type SessionStart } from "../base-session.js";
import type { Chunk } from "../exchange.js";
import type { Limits } from "../limits.js";

/** The codes that `ws` fails a connection with, by its error; all others are protocol errors (1002). */
const CLOSE_CODES: { readonly [error: string]: number } = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 1009,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
};

/** The average chunk of a message that arrives in the most pieces allowed. Each chunk costs an object. */
const CHUNK_BYTES = 64;

/** Fewer would refuse short messages that arrive byte by byte. */
const LEAST_CHUNKS = 1024;

/** A session over a WebSocket. `socket` is the connection below it. */
export class WebSocketSession extends BaseSession {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;

  constructor(start: SessionStart, webSocket: WebSocket, socket: Socket) {
    super(start);
    this.#webSocket = webSocket;
    this.#socket = socket;
    // Notices a peer that is gone while calls run: until they end nothing else looks at the connection.
    socket.setKeepAlive(true, start.limits.sessionIdleMs);
    socket.on("drain", () => this.drained());
    webSocket.on("message", (data, isBinary) => {
      if (!this.isReading) return;
      const bytes = data as Buffer; // the default of `binaryType`
      this.receive(isBinary ? bytes : bytes.toString(), bytes.length);
    });
    // Only onto an empty buffer: a peer that never reads would fill it with pongs.
    webSocket.on("ping", (data) => {
      if (this.isOpen && socket.writableLength === 0) webSocket.pong(data);
    });
    webSocket.on("error", (error: Error & { readonly code?: string }) => {
      const { code = "" } = error;
      if (code.startsWith("WS_ERR_")) this.failed(CLOSE_CODES[code] ?? 1002, error.message);
    });
    // 1006 is never received: it stands for a missing close frame.
    webSocket.on("close", (code, reason) => this.finish(code, reason.toString(), code !== 1006));
  }

  protected get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  protected get hasRoom(): boolean {
    return this.#socket.writableLength < this.#socket.writableHighWaterMark;
  }

  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  protected byteLength(text: string): number {
    return Buffer.byteLength(text);
  }

  protected write(frame: Chunk): void {
    this.#webSocket.send(frame);
  }

  protected pauseReading(): void {
    this.#webSocket.pause();
  }

  protected resumeReading(): void {
    this.#webSocket.resume();
  }

  protected startClosing(code: number, reason: string): void {
    this.#webSocket.close(code, reason);
    // The peer's close frame is behind what it sent before.
    this.#webSocket.resume();
  }

  destroy(): void {
    this.#webSocket.terminate();
  }
}

/** The limits as options of `ws`, for both ends. Compression is off: a small message could expand to a very large one. */
export function webSocketOptions(limits: Limits): ServerOptions & { readonly closeTimeout: number } {
  return {
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: limits.sessionMessageBytes,
    maxFragments: limits.sessionFragments,
    maxBufferedChunks: Math.max(LEAST_CHUNKS, Math.ceil(limits.sessionMessageBytes / CHUNK_BYTES)),
    closeTimeout: limits.drainMs,
  };
}
