import { RecordError, type SealedChannel } from "../../../security/sealed-records/index.js";
import type { Chunk } from "../../../transport/exchange.js";

/** The first byte of the plaintext of a record: what the rest of it is. */
export const KINDS = {
  /** A message of JSON, or its last piece. */
  text: 0,
  /** A message with binary parts, or its last piece. */
  binary: 1,
  /** A piece of a message that goes on in the next record. */
  piece: 2,
  handshake: 16,
} as const;

const NOTHING = new Uint8Array(0);

/** One record with a kind and content. */
export function sealKind(channel: SealedChannel, kind: number, content: Uint8Array): Uint8Array {
  const plain = Buffer.allocUnsafe(content.length + 1);
  plain[0] = kind;
  plain.set(content, 1);
  return channel.seal(plain, NOTHING);
}

/** The plaintext of a record, at least its kind. Throws RecordError. */
export function openKind(channel: SealedChannel, frame: Chunk): Uint8Array {
  if (typeof frame === "string") throw new RecordError("malformed");
  const plain = channel.open(frame, NOTHING);
  if (plain.length === 0) throw new RecordError("malformed");
  return plain;
}

export function sealHandshakeRecord(channel: SealedChannel, text: string): Uint8Array {
  return sealKind(channel, KINDS.handshake, Buffer.from(text));
}

export function openHandshakeRecord(channel: SealedChannel, frame: Chunk): string {
  const plain = openKind(channel, frame);
  if (plain[0] !== KINDS.handshake) throw new RecordError("malformed");
  return Buffer.from(plain.buffer, plain.byteOffset + 1, plain.byteLength - 1).toString("utf8");
}
