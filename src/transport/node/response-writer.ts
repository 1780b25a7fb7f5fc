import type { Maybe } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";

/** What an outlet tells whoever writes to it. */
export interface ResponseWriterEvents {
  /** The peer took what was written. */
  drained(): void;
  /** The peer took nothing for as long as it may, or is gone. */
  broken(): void;
}

/** Where the chunks of an answer go: all that HTTP/1.1 and HTTP/2 do differently while a stream is written. */
export interface ResponseWriter {
  /** Writes the head. Throws, before anything is written, for headers that are not HTTP. */
  open(response: HttpResponse, events: ResponseWriterEvents): void;
  /** False asks to wait for `drained`. */
  write(chunk: Chunk): boolean;
  /** True while the peer has not taken what was written. */
  readonly full: boolean;
  /** A peer that takes nothing for this long from now on is broken; every byte it takes is progress. */
  watchStall(stallMs: number): void;
  unwatchStall(): void;
  /** What is left must be taken too: a peer that takes nothing of it for `stallMs` is cut. */
  end(trailers: Maybe<{ readonly [name: string]: string }>, stallMs: number): void;
  /** Ends in such a way that nobody takes the answer for complete; what was written before still leaves. */
  cut(): void;
}
