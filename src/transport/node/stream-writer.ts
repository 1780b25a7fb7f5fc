import type { ServerResponse } from "node:http";
import type { Chunk, Response } from "../exchange.js";
import { flatHeaders } from "./write-response.js";

export interface StreamEnd {
  /** Runs once, however the stream ended. */
  done(): void;
  failed(thrown: unknown): void;
}

/**
 * Writes chunks as they come and never ahead of the socket: while the peer does not read, nothing is pulled. A stream
 * that fails is cut, never ended, so that nobody takes it for complete.
 */
export class StreamWriter {
  readonly #res: ServerResponse;
  readonly #response: Response;
  readonly #iterator: AsyncIterator<Chunk>;
  readonly #stallMs: number;
  readonly #end: StreamEnd;
  #over = false;
  #idle: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;

  constructor(
    res: ServerResponse,
    response: Response,
    chunks: AsyncIterable<Chunk>,
    options: { stallMs: number; end: StreamEnd },
  ) {
    this.#res = res;
    this.#response = response;
    this.#iterator = chunks[Symbol.asyncIterator]();
    this.#stallMs = options.stallMs;
    this.#end = options.end;
  }

  /** Throws, before anything is written, for headers that are not HTTP. */
  start(closing: boolean): void {
    const res = this.#res;
    res.writeHead(this.#response.status, flatHeaders(this.#response.headers, closing));
    // The head leaves at once, together with whatever the handler already has.
    const { socket } = res;
    socket?.cork();
    res.flushHeaders();
    if (socket !== null) process.nextTick(() => socket.uncork());
    res.on("drain", () => this.#drained?.());
    res.on("timeout", () => this.cut());
    // Somebody else may have destroyed the response; an unheard error would end the process.
    res.on("error", () => this.cut());
    const { idle } = this.#response;
    if (idle !== undefined) this.#idle = setInterval(() => this.#whileSilent(idle.chunk), idle.everyMs);
    void this.#pump();
  }

  /** The peer is gone, or must go: the handler learns it by `return()`. */
  cut(): void {
    if (this.#over) return;
    this.#finish();
    this.#res.destroy();
    // Not awaited: a generator that waits settles its `return()` only when the wait ends.
    this.#iterator.return?.().catch((thrown: unknown) => this.#end.failed(thrown));
  }

  async #pump(): Promise<void> {
    const res = this.#res;
    try {
      for (;;) {
        const step = await this.#iterator.next();
        if (this.#over) return;
        if (step.done === true) break;
        this.#idle?.refresh();
        if (!res.write(step.value)) {
          await this.#drain();
          if (this.#over) return;
        }
      }
      const trailers = this.#response.trailers?.();
      if (trailers !== undefined) res.addTrailers(trailers);
      res.end();
      this.#finish();
    } catch (thrown) {
      if (!this.#over) {
        this.#finish();
        // What was written before still leaves: the socket is uncorked by then.
        setImmediate(() => res.destroy());
      }
      this.#end.failed(thrown);
    }
  }

  /** The socket's own timer counts bytes that the peer takes as progress; a plain timer would cut slow readers of large chunks. */
  async #drain(): Promise<void> {
    const { socket } = this.#res;
    const before = socket?.timeout ?? 0;
    socket?.setTimeout(this.#stallMs);
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#drained = undefined;
    socket?.setTimeout(before);
  }

  #whileSilent(chunk: string): void {
    if (!this.#res.writableNeedDrain) this.#res.write(chunk);
  }

  #finish(): void {
    this.#over = true;
    clearInterval(this.#idle);
    this.#drained?.();
    this.#end.done();
  }
}
