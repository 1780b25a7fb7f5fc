import { AgentError, type JsonObject } from "../../../envelope/index.js";
import { ByteCollector, bodyTooLarge } from "../../../transport/body.js";
import { encodeMessage } from "./encode.js";
import type { MessageType } from "./schema.js";

/** The prefix of every message: a compression flag and the length. */
const PREFIX_BYTES = 5;
const PREFIX = new Uint8Array(PREFIX_BYTES);

/** A message with its prefix, never compressed. */
export function encodeFrame(type: MessageType, value: JsonObject): Uint8Array {
  const frame = encodeMessage(type, value, PREFIX);
  const length = frame.length - PREFIX_BYTES;
  frame[1] = length >>> 24;
  frame[2] = length >>> 16;
  frame[3] = length >>> 8;
  frame[4] = length;
  return frame;
}

function lengthIn(prefix: Uint8Array, at: number): number {
  const byte = (index: number): number => prefix[at + index] ?? 0;
  return byte(1) * 0x1000000 + ((byte(2) << 16) | (byte(3) << 8) | byte(4));
}

/** The single message of a complete body. Throws AgentError `decode` if there is none or more than one. */
export function onlyMessage(body: Uint8Array): Uint8Array {
  if (body.length < PREFIX_BYTES) throw new AgentError("decode", "the call has no message");
  const end = PREFIX_BYTES + lengthIn(body, 0);
  if (end > body.length) throw new AgentError("decode", `the message ends after ${body.length} of ${end} bytes`);
  if (end < body.length) throw new AgentError("decode", "the call has more than one message");
  return body.subarray(PREFIX_BYTES);
}

/** The compression flag. Compression is not accepted, so a peer cannot send a decompression bomb. */
export function isCompressed(body: Uint8Array): boolean {
  return body.length > 0 && body[0] !== 0;
}

/** Splits a stream into messages, at any chunk boundaries. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #prefix = new Uint8Array(PREFIX_BYTES);
  #inPrefix = 0;
  #wanted = 0;
  #collected: ByteCollector | undefined;
  #missing = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a message is incomplete. */
  get isMidway(): boolean {
    return this.#inPrefix > 0;
  }

  /** Throws AgentError `too_large`, or `bad_peer` for a compressed message, which was not requested. */
  push(piece: Uint8Array, take: (message: Uint8Array) => void): void {
    let at = 0;
    while (at < piece.length) {
      if (this.#inPrefix < PREFIX_BYTES) {
        this.#prefix[this.#inPrefix++] = piece[at++] ?? 0;
        if (this.#inPrefix < PREFIX_BYTES) continue;
        this.#begin();
      }
      const part = piece.subarray(at, at + this.#missing);
      at += part.length;
      this.#missing -= part.length;
      if (this.#missing > 0) this.#keep(part);
      else take(this.#end(part));
    }
  }

  #begin(): void {
    if (isCompressed(this.#prefix)) throw new AgentError("bad_peer", "a message is compressed, which was not requested");
    this.#wanted = lengthIn(this.#prefix, 0);
    if (this.#wanted > this.#maxBytes) throw bodyTooLarge(this.#maxBytes);
    this.#missing = this.#wanted;
  }

  #keep(part: Uint8Array): void {
    this.#collected ??= new ByteCollector(this.#wanted);
    this.#collected.add(part);
  }

  /** Fast path: a message within one chunk is not copied. */
  #end(part: Uint8Array): Uint8Array {
    const collected = this.#collected;
    this.#collected = undefined;
    this.#inPrefix = 0;
    if (collected === undefined) return part;
    collected.add(part);
    return collected.whole();
  }
}
