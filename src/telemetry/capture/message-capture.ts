import { bytesOf } from "../../transport/body.js";
import type { Chunk } from "../../transport/exchange.js";
import { chunkBytes } from "../watch-body.js";
import type { WireCapture } from "./body-capture.js";
import type { WireBytes } from "./captured-message.js";
import { hideInText } from "./secrets.js";

/** Joins the messages of one direction. */
const SEPARATOR = "\n";

/**
 * The messages of one call in a session, one direction, kept up to a limit and with secrets removed. Each message is searched as a
 * whole: a line of it may hold the name of a secret and the next one its value. Of binary messages only the size is kept.
 */
export class MessageCapture implements WireCapture {
  readonly #head: string;
  readonly #limit: number;
  /** Messages with secrets hidden. */
  #text = "";
  #hasText = false;
  /** Bytes of the limit that are used. */
  #taken = 0;
  #bytes = 0;
  #cut = false;
  #closed = false;
  /** Binary messages are not kept, so there is nothing in which secrets could not be found. */
  readonly isBinary = false;

  constructor(head: string, limit: number) {
    this.#head = head;
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#text.length;
  }

  add(frame: Chunk): void {
    const bytes = chunkBytes(frame);
    this.#bytes += bytes;
    if (typeof frame !== "string") this.#cut ||= bytes > 0;
    else if (this.#closed) this.#cut = true;
    else this.#append(frame, bytes);
  }

  drop(): void {
    this.#closed = true;
    this.#cut ||= this.#bytes > 0;
    this.#text = "";
  }

  dropBinary(): void {
    // Nothing binary is kept.
  }

  wire(): WireBytes {
    return { head: this.#head, headers: {}, body: this.#text, encoding: "utf8", bytes: this.#bytes, cut: this.#cut };
  }

  /** Separators use the limit too: a stream of empty messages must end somewhere. */
  #append(text: string, bytes: number): void {
    const separator = this.#hasText ? SEPARATOR : "";
    const room = this.#limit - this.#taken - separator.length;
    this.#hasText = true;
    if (bytes <= room) {
      this.#text += separator + hideInText(text);
      this.#taken += separator.length + bytes;
      return;
    }
    this.#cut = true;
    this.#closed = true;
    if (room > 0) this.#text += separator + hideInText(beginning(text, room));
  }
}

/** An incomplete character at the end is dropped. */
function beginning(text: string, bytes: number): string {
  // No more characters than bytes: the rest of a long message is not encoded.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytesOf(text.slice(0, bytes)).subarray(0, bytes), { stream: true });
}
