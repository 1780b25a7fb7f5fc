import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Maybe } from "../../envelope/index.js";
import { bytesOf } from "../body.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { type DeferredTimer, deferTimer } from "./deferred-timer.js";
import { flushLater } from "./flush-later.js";
import { addFields } from "./http2-fields.js";
import type { ResponseWriter, ResponseWriterEvents } from "./response-writer.js";

/** Longer chunks are written in pieces, each after the previous one was flushed: the only visible progress of a single stream. */
const PIECE_BYTES = 64 * 1024;

/**
 * Writes the chunks of an HTTP/2 response. The first are sent at once, the others together: a write of the stream costs more than copying
 * its chunks. The stall is timed here, not by the stream's own timer, which counts any frame on the connection as progress: a peer that
 * reads nothing would only have to ping.
 */
export class Http2ResponseWriter implements ResponseWriter {
  readonly #stream: ServerHttp2Stream;
  #events: ResponseWriterEvents | undefined;
  #stall: DeferredTimer | undefined;
  /** Between two pieces of one chunk. */
  #writingPieces = false;
  /** Written and not yet given to the stream. */
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #hasBegun = false;
  #reportedFull = false;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  open(response: HttpResponse, events: ResponseWriterEvents): void {
    const stream = this.#stream;
    const waitForTrailers = response.trailers !== undefined;
    stream.respond(addFields({ ":status": response.status }, response.headers), { waitForTrailers });
    this.#events = events;
    stream.on("drain", () => {
      if (!this.#writingPieces) events.drained();
    });
    stream.on("close", () => this.unwatchStall());
  }

  write(chunk: Chunk): boolean {
    if (chunk.length <= PIECE_BYTES) {
      const bytes = bytesOf(chunk);
      this.#bytes += bytes.length;
      if (this.#chunks.push(bytes) === 1) this.#flushSoon();
      this.#reportedFull = this.full;
      return !this.#reportedFull;
    }
    this.#send();
    this.#writingPieces = true;
    writePieces(this.#stream, bytesOf(chunk), 0, {
      flushed: () => this.#stall?.refresh(),
      last: (rest) => {
        this.#writingPieces = false;
        // A short remainder does not fill the stream, which then never emits `drain`.
        if (this.#stream.write(rest)) this.#events?.drained();
      },
    });
    return false;
  }

  get full(): boolean {
    const { writableNeedDrain, writableHighWaterMark } = this.#stream;
    return this.#writingPieces || writableNeedDrain || this.#bytes >= writableHighWaterMark;
  }

  #flushSoon(): void {
    if (this.#hasBegun) flushLater(this);
    else process.nextTick(flush, this);
    this.#hasBegun = true;
  }

  /** Gives the stream what was written since the last time. */
  flush(): void {
    this.#send();
    if (!this.#reportedFull || this.full) return;
    this.#reportedFull = false;
    this.#events?.drained();
  }

  #send(): void {
    const bytes = this.#take();
    if (bytes !== undefined) this.#stream.write(bytes);
  }

  #take(): Maybe<Uint8Array> {
    const [only, ...more] = this.#chunks;
    if (only === undefined) return undefined;
    const bytes = more.length === 0 ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    this.#bytes = 0;
    return bytes;
  }

  watchStall(stallMs: number): void {
    this.#stall = deferTimer(onStall, stallMs, this);
  }

  stalled(): void {
    this.#events?.broken();
  }

  unwatchStall(): void {
    this.#stall?.stop();
    this.#stall = undefined;
  }

  end(trailers: Maybe<Trailers>, stallMs: number): void {
    if (trailers !== undefined) sendTrailers(this.#stream, trailers);
    this.#stream.end(this.#take());
    this.#stall = deferTimer(resetStream, stallMs, this.#stream);
  }

  cut(): void {
    this.#send();
    // Written data is sent at the end of this turn; a reset would discard it.
    setImmediate(() => resetStream(this.#stream));
  }
}

function onStall(writer: Http2ResponseWriter): void {
  writer.stalled();
}

function flush(writer: Http2ResponseWriter): void {
  writer.flush();
}

/** Writes a complete body and ends. The timer cuts the stream if the peer reads nothing; the caller stops it on close. */
export function endWith(stream: ServerHttp2Stream, body: Maybe<Chunk>, stallMs: number): DeferredTimer {
  const stall = deferTimer(resetStream, stallMs, stream);
  if (body === undefined || body.length <= PIECE_BYTES) stream.end(body);
  else writePieces(stream, bytesOf(body), 0, { flushed: () => stall.refresh(), last: (rest) => stream.end(rest) });
  return stall;
}

function writePieces(
  stream: ServerHttp2Stream,
  bytes: Uint8Array,
  from: number,
  events: { flushed(): void; last(rest: Uint8Array): void },
): void {
  const to = from + PIECE_BYTES;
  if (to >= bytes.length) {
    events.last(bytes.subarray(from));
    return;
  }
  stream.write(bytes.subarray(from, to), (failed) => {
    // The stream is closed; its listeners know.
    if (failed !== undefined && failed !== null) return;
    events.flushed();
    writePieces(stream, bytes, to, events);
  });
}

type Trailers = { readonly [name: string]: string };
/** The last ones, checked: those of success are one object. */
let checked: { readonly trailers: Trailers; readonly fields: OutgoingHttpHeaders } | undefined;

/** Sends trailers after the body. Throws immediately for values that are not valid HTTP. */
export function sendTrailers(stream: ServerHttp2Stream, trailers: Trailers): void {
  if (checked?.trailers !== trailers) checked = { trailers, fields: addFields({}, trailers) };
  const { fields } = checked;
  stream.on("wantTrailers", () => stream.sendTrailers(fields));
}

/** Ends a stream with INTERNAL_ERROR. Closing it with that code would first end its body normally. */
export function resetStream(stream: ServerHttp2Stream): void {
  stream.destroy(new Error("the response failed"));
}
