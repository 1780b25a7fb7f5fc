import { CallSlot, type Maybe } from "../envelope/index.js";
import type { EdgeMeter } from "./metrics.js";

/**
 * The bytes of one call. MSG_BYTES and MSG_BYTES_PAYLOAD are counted at once, message by message. What is around the content, and what
 * was sent again, is the difference of the two. It is counted when both are known, because a counter must not fall.
 */
export class ByteAccount {
  readonly meter: EdgeMeter;
  #difference = 0;
  #settled = 0;

  constructor(meter: EdgeMeter) {
    this.meter = meter;
  }

  /** Bytes of serialised messages, in either direction. */
  wire(bytes: number): void {
    this.meter.bytes(bytes);
    this.#difference += bytes;
  }

  /** As `wire`, for bytes that MSG_BYTES has already. */
  assigned(bytes: number): void {
    this.#difference += bytes;
  }

  /** Bytes of content that the caller or the agent sees, each once. */
  content(bytes: number): void {
    this.meter.payload(bytes);
    this.#difference -= bytes;
  }

  /** Call it between messages: the content of everything received so far was counted. */
  settle(): void {
    if (this.#difference <= this.#settled) return;
    this.meter.overhead(this.#difference - this.#settled);
    this.#settled = this.#difference;
  }
}

/** The account of a call, found by its requests. */
export type ByteAccounts = CallSlot<ByteAccount>;

export function byteAccounts(): ByteAccounts {
  return new CallSlot<ByteAccount>();
}

const LINE_END = 0x0a;

/** Whether a chunk ends with a line, as every server-sent event does: the next chunk then begins with a new message. */
export function endsMessage(chunk: Uint8Array | string): boolean {
  return (typeof chunk === "string" ? chunk.charCodeAt(chunk.length - 1) : chunk[chunk.length - 1]) === LINE_END;
}

/** Bytes of a request without a call, such as that for a card: all of them are around the content. */
export function countUncalled(meter: Maybe<EdgeMeter>, bytes: number): void {
  meter?.bytes(bytes);
  meter?.overhead(bytes);
}
