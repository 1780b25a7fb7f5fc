import type { ServerResponse } from "node:http";
import type { Maybe } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { flushLater } from "./flush-later.js";
import type { ResponseWriter, ResponseWriterEvents } from "./response-writer.js";
import { watchFlush } from "./watch-flush.js";
import { flatHeaders } from "./write-response.js";

/** RFC 9112 §7.1, without trailers. */
const LAST_CHUNK = "0\r\n\r\n";

const WRITER = Symbol("response writer");
type Trailers = { readonly [name: string]: string };
type Carrier = ServerResponse & { [WRITER]?: Http1ResponseWriter };

/**
 * Writes the chunks of an HTTP/1.1 response. The first are sent at once, the others together: the chunks of one stream as one text, and
 * all streams one after the other. Sending each chunk by itself wakes its peer each time, which costs more than the chunk.
 */
export class Http1ResponseWriter implements ResponseWriter {
  readonly #res: Carrier;
  readonly #closing: boolean;
  #events: ResponseWriterEvents | undefined;
  #timeoutBefore = 0;
  /** The chunks have a length each (RFC 9112 §7.1): written here, because Node makes four writes of each. */
  #framed = false;
  /** Written and not yet sent. */
  #text = "";
  #isHeadSent = false;
  #isCorked = false;
  #hasEnded = false;
  #isWaiting = false;
  #reportedFull = false;

  constructor(res: ServerResponse, closing: boolean) {
    this.#res = res;
    this.#closing = closing;
  }

  /** Listeners have no closures: an open stream keeps them. */
  open(response: HttpResponse, events: ResponseWriterEvents): void {
    const res = this.#res;
    res.writeHead(response.status, flatHeaders(response.headers, this.#closing));
    this.#events = events;
    res[WRITER] = this;
    // The head is sent with what the handler already has. It does not wait for the end of the turn: other requests that arrived with
    // this one are handled before that, and a caller measures the time until its first event.
    this.#isWaiting = true;
    process.nextTick(flush, this);
    this.#framed = res.chunkedEncoding;
    if (this.#framed) res.chunkedEncoding = false;
    // Other code may have destroyed the response; an unhandled error would end the process.
    res.on("error", onBroken);
  }

  write(chunk: Chunk): boolean {
    if (typeof chunk === "string") this.#text += chunk;
    else this.#writeBytes(chunk);
    this.#flushSoon();
    if (!this.full) return true;
    // Not before: most streams never fill their socket.
    if (!this.#reportedFull) this.#res.on("drain", onDrain);
    this.#reportedFull = true;
    return false;
  }

  get full(): boolean {
    return this.#res.writableNeedDrain || this.#text.length >= this.#res.writableHighWaterMark;
  }

  /** The socket's own timer counts acknowledged bytes as progress; a plain timer would disconnect slow readers of large chunks. */
  watchStall(stallMs: number): void {
    const { socket } = this.#res;
    this.#timeoutBefore = socket?.timeout ?? 0;
    socket?.setTimeout(stallMs);
    this.#res.on("timeout", onBroken);
  }

  unwatchStall(): void {
    this.#res.off("timeout", onBroken).socket?.setTimeout(this.#timeoutBefore);
  }

  end(trailers: Maybe<Trailers>, stallMs: number): void {
    this.#hasEnded = true;
    if (this.#isHeadSent) this.writeEnd(trailers, stallMs);
    else writeEndSoon({ writer: this, trailers, stallMs });
  }

  writeEnd(trailers: Maybe<Trailers>, stallMs: number): void {
    const res = this.#res;
    if (res.destroyed) return;
    this.#cork();
    if (trailers === undefined) {
      this.#send(LAST_CHUNK);
      // Before the end, which Node would otherwise write as a text of its own.
      this.#uncork();
    } else {
      this.#send();
      // Node writes the last chunk, which has the trailers.
      res.addTrailers(trailers);
      if (this.#framed) res.chunkedEncoding = true;
    }
    // Sends all that is corked, and the head of an empty answer.
    res.end();
    this.#isHeadSent = true;
    this.#isCorked = false;
    watchFlush(res, stallMs);
  }

  cut(): void {
    // A destroyed response discards what was not sent.
    this.flush();
    setImmediate(() => this.#res.destroy());
  }

  drained(): void {
    this.#res.off("drain", onDrain);
    this.#reportedFull = false;
    this.#events?.drained();
  }

  broken(): void {
    this.#events?.broken();
  }

  /** Sends what was written since the last time. After the end, that is left to the end. */
  flush(): void {
    if (this.#hasEnded) return;
    this.#isWaiting = false;
    // Otherwise Node corks it, and uncorks it in a tick of its own.
    if (this.#text !== "") this.#cork();
    // By itself: Node keeps the head as the dozens of texts that it was joined from until it is written so.
    if (!this.#isHeadSent) this.#res.flushHeaders();
    this.#isHeadSent = true;
    this.#send();
    this.#uncork();
    if (this.#reportedFull && !this.full) this.drained();
  }

  #writeBytes(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#cork();
    this.#send();
    this.#isHeadSent = true;
    if (this.#framed) this.#res.write(`${bytes.length.toString(16)}\r\n`, "latin1");
    this.#res.write(bytes);
    if (this.#framed) this.#res.write("\r\n", "latin1");
  }

  /**
   * What is sent together is one chunk of HTTP (RFC 9112 §7.1). Node puts the head before the first text, so that a short answer is
   * one text, which Node writes faster than a list of them.
   */
  #send(end = ""): void {
    const text = this.#text;
    this.#text = "";
    const ending = this.#framed ? end : "";
    if (text === "" && ending === "") return;
    this.#isHeadSent = true;
    // As if all were ASCII: the text is joined once, with its length, and its encoding is written several times as fast.
    const chunk = this.#chunkOf(text, text.length) + ending;
    if (Buffer.byteLength(chunk) === chunk.length) this.#res.write(chunk, "latin1");
    else this.#res.write(this.#chunkOf(text, Buffer.byteLength(text)) + ending, "utf8");
  }

  #chunkOf(text: string, bytes: number): string {
    return this.#framed && text !== "" ? `${bytes.toString(16)}\r\n${text}\r\n` : text;
  }

  #cork(): void {
    const { socket } = this.#res;
    if (socket === null || this.#isCorked) return;
    socket.cork();
    this.#isCorked = true;
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#res.socket?.uncork();
  }

  #flushSoon(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    flushLater(this);
  }
}

interface Complete {
  readonly writer: Http1ResponseWriter;
  readonly trailers: Maybe<Trailers>;
  readonly stallMs: number;
}
let complete: Complete[] = [];

/** A stream that is over before anything of it was sent is sent at the end of the turn, with all others: each write wakes its peer. */
function writeEndSoon(stream: Complete): void {
  if (complete.push(stream) === 1) setImmediate(writeEnds);
}

function writeEnds(): void {
  const streams = complete;
  complete = [];
  for (const { writer, trailers, stallMs } of streams) writer.writeEnd(trailers, stallMs);
}

function flush(writer: Http1ResponseWriter): void {
  writer.flush();
}

function onDrain(this: Carrier): void {
  this[WRITER]?.drained();
}

function onBroken(this: Carrier): void {
  this[WRITER]?.broken();
}
