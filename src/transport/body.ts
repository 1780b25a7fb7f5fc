import { AgentError } from "../envelope/index.js";
import { type Chunk, type HttpResponse, isStream } from "./exchange.js";
import { readJson } from "./json.js";
import type { Limits } from "./limits.js";

const EMPTY = new Uint8Array(0);
const encoder = new TextEncoder();

export function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === "string" ? encoder.encode(chunk) : chunk;
}

/**
 * Collects a body from its chunks, up to a limit. A single chunk is kept as it is; several go into one buffer that doubles, because
 * a peer that sends byte by byte would otherwise cause one object per byte.
 */
export class ByteCollector {
  readonly #maxBytes: number;
  #bytes: Uint8Array = EMPTY;
  #length = 0;
  #copied = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** How much more memory this chunk needs. */
  growthFor(piece: Uint8Array): number {
    const length = this.#length + piece.length;
    if (this.#length === 0) return length;
    return this.#copied && length <= this.#bytes.length ? 0 : this.#grown(length) - this.#bytes.length;
  }

  /** Returns false and keeps nothing if the chunk exceeds the limit. */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) return false;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (!this.#copied || length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
    return true;
  }

  whole(): Uint8Array {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  /** Twice what is needed, or the whole body if its length is known. */
  #grown(length: number): number {
    return Math.max(length, Math.min(this.#maxBytes, length * 2));
  }

  #grow(length: number): void {
    const larger = new Uint8Array(this.#grown(length));
    larger.set(this.whole());
    this.#bytes = larger;
    this.#copied = true;
  }
}

/** The complete response body. Throws `too_large` beyond `maxBytes` and stops reading. */
export function wholeBody(body: HttpResponse["body"], maxBytes: number): Uint8Array | Promise<Uint8Array> {
  if (isStream(body)) return collect(body, maxBytes);
  if (body === undefined) return EMPTY;
  const bytes = bytesOf(body);
  if (bytes.length > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

async function collect(chunks: AsyncIterable<Chunk>, maxBytes: number): Promise<Uint8Array> {
  const collected = new ByteCollector(maxBytes);
  for await (const chunk of chunks) {
    if (!collected.add(bytesOf(chunk))) throw bodyTooLarge(maxBytes);
  }
  return collected.whole();
}

/** The JSON value of a response; synchronous if the body is complete. Throws AgentError `decode` or `too_large`. */
export function responseJson(response: HttpResponse, limits: Limits): unknown {
  const body = wholeBody(response.body, limits.bodyBytes);
  return body instanceof Promise ? body.then((bytes) => readJson(bytes, limits)) : readJson(body, limits);
}

export function bodyTooLarge(maxBytes: number): AgentError {
  return new AgentError("too_large", `the body is longer than ${maxBytes} bytes`);
}

const EVENT_STREAM = "text/event-stream";

/** True for the media type that is read as a stream. */
export function isEventStream(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === EVENT_STREAM) return true;
  const semicolon = contentType.indexOf(";");
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase() === EVENT_STREAM;
}
