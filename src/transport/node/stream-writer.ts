import { type ReadyIterator, TAKE_READY } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import type { ResponseWriter } from "./response-writer.js";

export interface StreamEnd {
  /** Called once, however the stream ended. */
  done(): void;
  failed(thrown: unknown): void;
}

/**
 * Writes chunks as they arrive and never ahead of the peer: while it does not read, nothing is pulled. A failed stream is cut, not
 * ended, so that it never looks complete.
 */
export class StreamWriter {
  readonly #writer: ResponseWriter;
  readonly #response: HttpResponse;
  readonly #iterator: ReadyIterator<Chunk>;
  readonly #stallMs: number;
  readonly #end: StreamEnd;
  #ended = false;
  #idle: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;

  constructor(
    writer: ResponseWriter,
    response: HttpResponse,
    chunks: AsyncIterable<Chunk>,
    options: { readonly stallMs: number; readonly end: StreamEnd },
  ) {
    this.#writer = writer;
    this.#response = response;
    this.#iterator = chunks[Symbol.asyncIterator]();
    this.#stallMs = options.stallMs;
    this.#end = options.end;
  }

  /** Throws before writing if the headers are not valid HTTP. */
  start(): void {
    this.#writer.open(this.#response, { drained: () => this.#drained?.(), broken: () => this.cut() });
    const { idle } = this.#response;
    if (idle !== undefined) this.#idle = setInterval(() => this.#writeKeepAlive(idle.chunk), idle.everyMs);
    void this.#pump();
  }

  /** Disconnects the peer; the handler is notified by `return()`. */
  cut(): void {
    if (this.#ended) return;
    this.#finish();
    this.#writer.cut();
    // Not awaited: a suspended generator settles `return()` only when its wait ends.
    this.#iterator.return?.().catch((thrown: unknown) => this.#end.failed(thrown));
  }

  async #pump(): Promise<void> {
    const writer = this.#writer;
    try {
      for (;;) {
        const step = await this.#iterator.next();
        if (this.#ended) return;
        if (step.done === true) break;
        this.#idle?.refresh();
        for (let chunk: Chunk | undefined = step.value; chunk !== undefined; chunk = this.#iterator[TAKE_READY]?.()) {
          if (writer.write(chunk)) continue;
          await this.#drain();
          if (this.#ended) return;
        }
      }
      writer.end(this.#response.trailers?.(), this.#stallMs);
      this.#finish();
    } catch (thrown) {
      if (!this.#ended) {
        this.#finish();
        writer.cut();
      }
      this.#end.failed(thrown);
    }
  }

  async #drain(): Promise<void> {
    this.#writer.watchStall(this.#stallMs);
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#drained = undefined;
    this.#writer.unwatchStall();
  }

  #writeKeepAlive(chunk: string): void {
    if (!this.#writer.full) this.#writer.write(chunk);
  }

  #finish(): void {
    this.#ended = true;
    clearInterval(this.#idle);
    this.#drained?.();
    this.#end.done();
  }
}
