import type { Maybe } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";

/** Callbacks of a response writer. */
export interface ResponseWriterEvents {
  /** The written data was flushed. */
  drained(): void;
  /** The peer stalled for too long or disconnected. */
  broken(): void;
}

/** Writes the chunks of a response; hides the differences of HTTP/1.1 and HTTP/2. */
export interface ResponseWriter {
  /** Writes the head. Throws before writing if the headers are not valid HTTP. */
  open(response: HttpResponse, events: ResponseWriterEvents): void;
  /** Returns false to wait for `drained`. */
  write(chunk: Chunk): boolean;
  /** True while written data is not flushed. */
  readonly full: boolean;
  /** Reports `broken` if the peer reads nothing for this long; every byte it reads is progress. */
  watchStall(stallMs: number): void;
  unwatchStall(): void;
  /** Ends the response. A peer that reads nothing of the rest for `stallMs` is disconnected. */
  end(trailers: Maybe<{ readonly [name: string]: string }>, stallMs: number): void;
  /** Ends the response visibly incomplete; data already written is still sent. */
  cut(): void;
}
