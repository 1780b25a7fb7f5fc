import { encodeBase64, type Maybe } from "../../envelope/index.js";
import { ByteCollector, bytesOf } from "../../transport/body.js";
import type { Chunk, HttpHeaders } from "../../transport/exchange.js";
import { chunkBytes } from "../watch-body.js";
import type { WireBytes } from "./captured-message.js";
import { hideInText, keptHeaders } from "./secrets.js";

/** Media types whose bodies are processed line by line as they arrive. */
const BY_LINES = /^(text\/event-stream|application\/(x-ndjson|jsonl|json-seq))/i;
const BINARY = /^(application\/(grpc|octet-stream|protobuf|x-protobuf)|image\/|audio\/|video\/)/i;
const LF = 0x0a;

/** Captured bytes of one direction while they arrive. */
export interface WireCapture {
  /** True for binary formats, whose content cannot be searched for secrets. */
  readonly isBinary: boolean;
  /** Size of everything so far, including what was not kept. */
  readonly bytes: number;
  /** Approximate memory use. */
  readonly size: number;
  /** Discards the content: it holds secrets that cannot be hidden in place, or memory is needed. */
  drop(): void;
  /** As `drop`, for binary content only: secrets cannot be located in it. */
  dropBinary(): void;
  wire(): WireBytes;
}

/**
 * One captured body, kept up to a limit and with secrets removed. Text is released only in complete units (a line of a stream,
 * otherwise the whole body), because a secret split across two chunks would be missed.
 */
export class BodyCapture implements WireCapture {
  readonly #head: string;
  readonly #headers: { [name: string]: string };
  readonly #limit: number;
  readonly #byLines: boolean;
  #binary: boolean;
  #pending: ByteCollector;
  #pendingBytes = 0;
  /** Released text with secrets hidden. */
  #text = "";
  #taken = 0;
  #bytes = 0;
  #cut = false;
  #closed = false;

  constructor(head: string, headers: HttpHeaders, limit: number) {
    const type = headers["content-type"] ?? "";
    this.#head = head;
    this.#headers = { ...keptHeaders(headers) };
    this.#limit = limit;
    this.#byLines = BY_LINES.test(type);
    this.#binary = BINARY.test(type);
    this.#pending = new ByteCollector(limit);
  }

  get isBinary(): boolean {
    return this.#binary;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#text.length + this.#pendingBytes;
  }

  add(chunk: Chunk): void {
    if (this.#closed) {
      this.#bytes += chunkBytes(chunk);
      this.#cut ||= chunk.length > 0;
      return;
    }
    const length = chunkBytes(chunk);
    this.#bytes += length;
    const room = this.#limit - this.#taken - this.#pendingBytes;
    // Copy: the chunk is often a view of a much larger buffer. Of a long text only what fits is encoded.
    const kept =
      typeof chunk === "string" ? bytesOf(chunk.slice(0, room)).subarray(0, room) : new Uint8Array(chunk.subarray(0, room));
    this.#pending.add(kept);
    this.#pendingBytes += kept.length;
    if (kept.length < length) {
      this.#cut = true;
      this.end();
    } else if (this.#byLines) this.#takeLines(kept);
  }

  /** Trailer fields. */
  addTrailers(trailers: Maybe<HttpHeaders>): void {
    if (trailers !== undefined) Object.assign(this.#headers, keptHeaders(trailers));
  }

  /** No more data follows. */
  end(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#binary) this.#take(this.#pendingBytes);
  }

  drop(): void {
    this.#closed = true;
    this.#cut ||= this.#bytes > 0;
    this.#text = "";
    this.#empty();
  }

  dropBinary(): void {
    if (this.#binary) this.drop();
  }

  wire(): WireBytes {
    const body = this.#binary ? encodeBase64(this.#pending.whole()) : this.#text;
    return {
      head: this.#head,
      headers: { ...this.#headers },
      body,
      encoding: this.#binary ? "base64" : "utf8",
      bytes: this.#bytes,
      cut: this.#cut,
    };
  }

  #takeLines(added: Uint8Array): void {
    const end = added.lastIndexOf(LF);
    if (end !== -1) this.#take(this.#pendingBytes - added.length + end + 1);
  }

  /** Moves the first pending bytes to the released text; bytes that are not UTF-8 stay binary. */
  #take(count: number): void {
    const whole = this.#pending.whole();
    const text = textIn(whole.subarray(0, count), this.#cut);
    if (text === undefined) {
      this.#binary = this.#text === "";
      if (!this.#binary) this.drop();
      return;
    }
    this.#text += hideInText(text);
    this.#taken += count;
    const rest = whole.slice(count);
    this.#empty();
    this.#pending.add(rest);
    this.#pendingBytes = rest.length;
  }

  #empty(): void {
    this.#pending = new ByteCollector(this.#limit);
    this.#pendingBytes = 0;
  }
}

/** Undefined if the bytes are not UTF-8. An incomplete character at the end is dropped. */
function textIn(bytes: Uint8Array, cut: boolean): Maybe<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    return undefined;
  }
}
