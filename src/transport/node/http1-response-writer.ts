import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Maybe } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import type { ResponseWriter, ResponseWriterEvents } from "./response-writer.js";
import { watchFlush } from "./watch-flush.js";
import { flatHeaders } from "./write-response.js";

/** Writes the chunks of an HTTP/1.1 response. */
export class Http1ResponseWriter implements ResponseWriter {
  readonly #res: ServerResponse;
  readonly #closing: boolean;
  #timeoutBefore = 0;

  constructor(res: ServerResponse, closing: boolean) {
    this.#res = res;
    this.#closing = closing;
  }

  open(response: HttpResponse, events: ResponseWriterEvents): void {
    const res = this.#res;
    res.writeHead(response.status, flatHeaders(response.headers, this.#closing));
    // The head is sent with what the handler already has, and without waiting for more.
    flushSoon(res.socket);
    res.flushHeaders();
    res.on("drain", () => events.drained());
    res.on("timeout", () => events.broken());
    // Other code may have destroyed the response; an unhandled error would end the process.
    res.on("error", () => events.broken());
  }

  write(chunk: Chunk): boolean {
    flushSoon(this.#res.socket);
    return this.#res.write(chunk);
  }

  get full(): boolean {
    return this.#res.writableNeedDrain;
  }

  /** The socket's own timer counts acknowledged bytes as progress; a plain timer would disconnect slow readers of large chunks. */
  watchStall(stallMs: number): void {
    const { socket } = this.#res;
    this.#timeoutBefore = socket?.timeout ?? 0;
    socket?.setTimeout(stallMs);
  }

  unwatchStall(): void {
    this.#res.socket?.setTimeout(this.#timeoutBefore);
  }

  end(trailers: Maybe<{ readonly [name: string]: string }>, stallMs: number): void {
    if (trailers !== undefined) this.#res.addTrailers(trailers);
    this.#res.end();
    watchFlush(this.#res, stallMs);
  }

  cut(): void {
    // The socket is uncorked by then.
    setImmediate(() => this.#res.destroy());
  }
}

const corked: Socket[] = [];

/**
 * What streams write in one turn of the event loop is sent at its end: the chunks of one stream in one write, and all streams one after
 * the other. Sending each chunk by itself wakes its peer each time, which costs more than the chunk.
 */
function flushSoon(socket: Socket | null): void {
  if (socket === null || socket.writableCorked > 0) return;
  socket.cork();
  if (corked.push(socket) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  for (const socket of corked.splice(0)) socket.uncork();
}
