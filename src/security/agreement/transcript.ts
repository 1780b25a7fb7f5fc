import { createHash } from "node:crypto";

/** The hash of a handshake: of a label and of every message with its length, so that no two handshakes have the same. */
export function transcriptHash(label: string, messages: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256").update(label);
  for (const message of messages) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(message.length);
    hash.update(length).update(message);
  }
  return hash.digest();
}
