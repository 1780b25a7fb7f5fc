import type { BufferedBytes } from "../buffered-bytes.js";
import { bodyTooLarge } from "../refusal.js";
import { ByteStream } from "./byte-stream.js";

/** A body that is read while it arrives. The whole of it is limited and counted, so a slow reader needs no backpressure. */
export class ArrivingBody {
  readonly bytes = new ByteStream(nothing, nothing);
  readonly #maxBytes: number;
  readonly #held: BufferedBytes;
  #received = 0;

  constructor(maxBytes: number, held: BufferedBytes) {
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  receive(piece: Uint8Array): void {
    this.#received += piece.length;
    if (this.#received > this.#maxBytes) this.bytes.fail(bodyTooLarge(this.#maxBytes));
    else if (!this.#held.add(piece.length)) this.bytes.fail(this.#held.problem());
    else this.bytes.push(piece);
  }
}

function nothing(): void {}
