import { type ReadyIterator, type ReadyWaiter, TAKE_READY, WHEN_READY } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { KEEP_ALIVE_TICKS, KeepAlive, type KeptAlive } from "./keep-alive.js";
import type { ResponseWriter, ResponseWriterEvents } from "./response-writer.js";

/** Whose stream is written. */
export interface StreamOwner {
  /** Called once, however the stream ended. */
  streamEnded(): void;
  streamFailed(thrown: unknown): void;
}

/**
 * Writes chunks as they arrive and never ahead of the peer: while it does not read, nothing is pulled. A failed stream is cut, not
 * ended, so that it never looks complete. No closures and no pending promise: an idle stream would keep them.
 */
export class StreamWriter implements ReadyWaiter, ResponseWriterEvents, KeptAlive {
  slot: number | undefined;
  readonly #writer: ResponseWriter;
  readonly #response: HttpResponse;
  readonly #iterator: ReadyIterator<Chunk>;
  readonly #stallMs: number;
  readonly #owner: StreamOwner;
  #ended = false;
  #keepAlive: KeepAlive | undefined;
  #silentTicks = 0;
  #onDrained: (() => void) | undefined;

  constructor(
    writer: ResponseWriter,
    response: HttpResponse,
    chunks: AsyncIterable<Chunk>,
    options: { readonly stallMs: number; readonly owner: StreamOwner },
  ) {
    this.#writer = writer;
    this.#response = response;
    this.#iterator = chunks[Symbol.asyncIterator]();
    this.#stallMs = options.stallMs;
    this.#owner = options.owner;
  }

  /** Throws before writing if the headers are not valid HTTP. */
  start(): void {
    this.#writer.open(this.#response, this);
    const { idle } = this.#response;
    if (idle !== undefined) {
      this.#keepAlive = KeepAlive.every(idle.everyMs);
      this.#keepAlive.add(this);
    }
    void this.#pump();
  }

  ready(): void {
    if (!this.#ended) void this.#pump();
  }

  drained(): void {
    this.#onDrained?.();
  }

  broken(): void {
    this.cut();
  }

  /** Disconnects the peer; the handler is notified by `return()`. */
  cut(): void {
    if (this.#ended) return;
    this.#finish();
    this.#writer.cut();
    // Not awaited: a suspended generator settles `return()` only when its wait ends.
    this.#iterator.return?.().catch((thrown: unknown) => this.#owner.streamFailed(thrown));
  }

  async #pump(): Promise<void> {
    const writer = this.#writer;
    const iterator = this.#iterator;
    try {
      let chunk = iterator[TAKE_READY]?.();
      for (;;) {
        if (chunk !== undefined) this.#silentTicks = 0;
        for (; chunk !== undefined; chunk = iterator[TAKE_READY]?.()) {
          if (writer.write(chunk)) continue;
          await this.#drain();
          if (this.#ended) return;
        }
        if (iterator[WHEN_READY]?.(this) === true) return;
        const step = await iterator.next();
        if (this.#ended) return;
        if (step.done === true) break;
        chunk = step.value;
      }
      writer.end(this.#response.trailers?.(), this.#stallMs);
      this.#finish();
    } catch (thrown) {
      if (!this.#ended) {
        this.#finish();
        writer.cut();
      }
      this.#owner.streamFailed(thrown);
    }
  }

  async #drain(): Promise<void> {
    this.#writer.watchStall(this.#stallMs);
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    this.#onDrained = undefined;
    this.#writer.unwatchStall();
  }

  tick(): void {
    const { idle } = this.#response;
    if (idle === undefined || ++this.#silentTicks < KEEP_ALIVE_TICKS) return;
    this.#silentTicks = 0;
    if (!this.#writer.full) this.#writer.write(idle.chunk);
  }

  #finish(): void {
    this.#ended = true;
    this.#keepAlive?.remove(this);
    this.drained();
    this.#owner.streamEnded();
  }
}
