import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type Envelope, isSealed, type Part, SEALED_TYPE } from "../../src/envelope/index.js";

const CIPHER = "aes-256-gcm";
const [NONCE_BYTES, TAG_BYTES] = [12, 16];

/** What a sealed text is bound to. Session and task ids are not: a gateway replaces them. */
export type About = Pick<Envelope, "id" | "src" | "dst">;

/** A text as ciphertext for whoever has the key: length and text of the associated data, nonce, tag, ciphertext. */
export function seal(text: string, { id, src, dst }: About, key: Uint8Array): Part {
  const about = Buffer.from(JSON.stringify([id, src, dst, "send"]));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(about.length);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(about);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return { kind: "raw", mediaType: SEALED_TYPE, bytes: Buffer.concat([length, about, nonce, cipher.getAuthTag(), sealed]) };
}

/** The text of a message that is sealed as a whole. Throws if it was sealed for another message. */
export function unseal({ id, content }: Pick<Envelope, "id" | "content">, key: Uint8Array): string {
  const [part] = content;
  if (part?.kind !== "raw" || !isSealed(part) || content.length !== 1) throw new Error("the message is not sealed");
  const bytes = Buffer.from(part.bytes);
  const from = 2 + bytes.readUInt16BE(0);
  const about = bytes.subarray(2, from);
  if (JSON.parse(about.toString())[0] !== id) throw new Error("sealed for another message");
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(from, from + NONCE_BYTES)).setAAD(about);
  decipher.setAuthTag(bytes.subarray(from + NONCE_BYTES, from + NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(from + NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
}
