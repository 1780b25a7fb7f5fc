import { encodeBase64 } from "../../envelope/index.js";
import { ByteCollector, bytesOf } from "../../transport/body.js";
import type { Chunk } from "../../transport/exchange.js";
import type { WireCapture } from "./body-capture.js";
import type { WireBytes } from "./captured-message.js";

/** The sealed messages of one call in a session, one direction, as they crossed the wire and up to a limit. */
export class SealedCapture implements WireCapture {
  readonly #head: string;
  readonly #limit: number;
  readonly #signer: string;
  #kept: ByteCollector;
  #keptBytes = 0;
  #bytes = 0;
  #cut = false;
  #closed = false;
  /** There is nothing to search for secrets: they are sealed. */
  readonly isBinary = false;

  constructor(head: string, limit: number, signer: string) {
    this.#head = head;
    this.#limit = limit;
    this.#signer = signer;
    this.#kept = new ByteCollector(limit);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#keptBytes + this.#signer.length;
  }

  add(frame: Chunk): void {
    const bytes = bytesOf(frame);
    this.#bytes += bytes.length;
    // A text in a sealed session is not sealed, and is refused.
    const room = typeof frame === "string" || this.#closed ? 0 : this.#limit - this.#keptBytes;
    this.#cut ||= bytes.length > room;
    const kept = Math.min(bytes.length, room);
    // Copy: the message is often a view of a much larger buffer.
    if (kept > 0) this.#kept.add(new Uint8Array(bytes.subarray(0, kept)));
    this.#keptBytes += kept;
  }

  drop(): void {
    this.#closed = true;
    this.#cut ||= this.#bytes > 0;
    this.#kept = new ByteCollector(this.#limit);
    this.#keptBytes = 0;
  }

  dropBinary(): void {
    // Its secrets are sealed.
  }

  wire(): WireBytes {
    const body = encodeBase64(this.#kept.whole());
    return {
      head: this.#head,
      headers: {},
      body,
      encoding: "base64",
      bytes: this.#bytes,
      cut: this.#cut,
      sealed: true,
      signer: this.#signer,
    };
  }
}
