import type { ServerHttp2Stream } from "node:http2";
import type { Maybe } from "../../envelope/index.js";
import { bytesOf } from "../body.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { addFields } from "./http2-fields.js";
import type { ResponseWriter, ResponseWriterEvents } from "./response-writer.js";

/** What is longer is written in pieces, each after the one before was taken: the only progress of one stream that can be seen. */
const PIECE_BYTES = 64 * 1024;

/**
 * Chunks of an HTTP/2 answer. The stall is timed here and not by the stream's own timer, for which any frame on the
 * connection is progress: a peer that reads nothing would only have to ping.
 */
export class Http2ResponseWriter implements ResponseWriter {
  readonly #stream: ServerHttp2Stream;
  #events: ResponseWriterEvents | undefined;
  #stall: NodeJS.Timeout | undefined;
  /** Between two pieces of one chunk. */
  #midway = false;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  open(response: HttpResponse, events: ResponseWriterEvents): void {
    const stream = this.#stream;
    const waitForTrailers = response.trailers !== undefined;
    stream.respond(addFields({ ":status": response.status }, response.headers), { waitForTrailers });
    this.#events = events;
    stream.on("drain", () => {
      if (!this.#midway) events.drained();
    });
    stream.on("close", () => this.unwatchStall());
  }

  write(chunk: Chunk): boolean {
    if (chunk.length <= PIECE_BYTES) return this.#stream.write(chunk);
    this.#midway = true;
    writePieces(this.#stream, bytesOf(chunk), 0, {
      taken: () => this.#stall?.refresh(),
      last: (rest) => {
        this.#midway = false;
        // A short rest does not fill the stream, and then it never says that it has room again.
        if (this.#stream.write(rest)) this.#events?.drained();
      },
    });
    return false;
  }

  get full(): boolean {
    return this.#midway || this.#stream.writableNeedDrain;
  }

  watchStall(stallMs: number): void {
    this.#stall = setTimeout(() => this.#events?.broken(), stallMs);
  }

  unwatchStall(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  end(trailers: Maybe<{ readonly [name: string]: string }>, stallMs: number): void {
    if (trailers !== undefined) sendTrailers(this.#stream, trailers);
    this.#stream.end();
    this.#stall = setTimeout(resetStream, stallMs, this.#stream);
  }

  cut(): void {
    // What was written leaves at the end of this turn; a reset would throw it away.
    setImmediate(() => resetStream(this.#stream));
  }
}

/** Writes a whole body and ends. The timer cuts the stream when the peer takes nothing; whoever sees it close clears it. */
export function endWith(stream: ServerHttp2Stream, body: Maybe<Chunk>, stallMs: number): NodeJS.Timeout {
  const stall = setTimeout(resetStream, stallMs, stream);
  if (body === undefined || body.length <= PIECE_BYTES) stream.end(body);
  else writePieces(stream, bytesOf(body), 0, { taken: () => stall.refresh(), last: (rest) => stream.end(rest) });
  return stall;
}

function writePieces(
  stream: ServerHttp2Stream,
  bytes: Uint8Array,
  from: number,
  told: { taken(): void; last(rest: Uint8Array): void },
): void {
  const to = from + PIECE_BYTES;
  if (to >= bytes.length) {
    told.last(bytes.subarray(from));
    return;
  }
  stream.write(bytes.subarray(from, to), (failed) => {
    // The stream is gone, which whoever listens to it knows.
    if (failed !== undefined && failed !== null) return;
    told.taken();
    writePieces(stream, bytes, to, told);
  });
}

/** Says what follows the body, once the body has left. Throws at once for values that are not HTTP. */
export function sendTrailers(stream: ServerHttp2Stream, trailers: { readonly [name: string]: string }): void {
  const fields = addFields({}, trailers);
  stream.once("wantTrailers", () => stream.sendTrailers(fields));
}

/** Ends a stream with INTERNAL_ERROR. Closing it with that code instead would end its body normally first. */
export function resetStream(stream: ServerHttp2Stream): void {
  stream.destroy(new Error("the answer failed"));
}
