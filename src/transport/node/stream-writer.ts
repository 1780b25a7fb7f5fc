import type { Chunk, HttpResponse } from "../exchange.js";
import type { ResponseWriter } from "./response-writer.js";

export interface StreamEnd {
  /** Runs once, however the stream ended. */
  done(): void;
  failed(thrown: unknown): void;
}

/**
 * Writes chunks as they come and never ahead of the peer: while it does not read, nothing is pulled. A stream that fails
 * is cut, never ended, so that nobody takes it for complete.
 */
export class StreamWriter {
  readonly #outlet: ResponseWriter;
  readonly #response: HttpResponse;
  readonly #iterator: AsyncIterator<Chunk>;
  readonly #stallMs: number;
  readonly #end: StreamEnd;
  #over = false;
  #idle: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;

  constructor(
    outlet: ResponseWriter,
    response: HttpResponse,
    chunks: AsyncIterable<Chunk>,
    options: { readonly stallMs: number; readonly end: StreamEnd },
  ) {
    this.#outlet = outlet;
    this.#response = response;
    this.#iterator = chunks[Symbol.asyncIterator]();
    this.#stallMs = options.stallMs;
    this.#end = options.end;
  }

  /** Throws, before anything is written, for headers that are not HTTP. */
  start(): void {
    this.#outlet.open(this.#response, { drained: () => this.#drained?.(), broken: () => this.cut() });
    const { idle } = this.#response;
    if (idle !== undefined) this.#idle = setInterval(() => this.#whileSilent(idle.chunk), idle.everyMs);
    void this.#pump();
  }

  /** The peer is gone, or must go: the handler learns it by `return()`. */
  cut(): void {
    if (this.#over) return;
    this.#finish();
    this.#outlet.cut();
    // Not awaited: a generator that waits settles its `return()` only when the wait ends.
    this.#iterator.return?.().catch((thrown: unknown) => this.#end.failed(thrown));
  }

  async #pump(): Promise<void> {
    const outlet = this.#outlet;
    try {
      for (;;) {
        const step = await this.#iterator.next();
        if (this.#over) return;
        if (step.done === true) break;
        this.#idle?.refresh();
        if (!outlet.write(step.value)) {
          await this.#drain();
          if (this.#over) return;
        }
      }
      outlet.end(this.#response.trailers?.(), this.#stallMs);
      this.#finish();
    } catch (thrown) {
      if (!this.#over) {
        this.#finish();
        outlet.cut();
      }
      this.#end.failed(thrown);
    }
  }

  async #drain(): Promise<void> {
    this.#outlet.watchStall(this.#stallMs);
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#drained = undefined;
    this.#outlet.unwatchStall();
  }

  #whileSilent(chunk: string): void {
    if (!this.#outlet.full) this.#outlet.write(chunk);
  }

  #finish(): void {
    this.#over = true;
    clearInterval(this.#idle);
    this.#drained?.();
    this.#end.done();
  }
}
