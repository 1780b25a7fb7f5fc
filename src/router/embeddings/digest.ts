import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

const CHUNK_BYTES = 1024 * 1024;

/** The digest of a file, read as a stream. */
export async function digestOf(path: string, hash: "sha256" | "sha512", encoding: "hex" | "base64"): Promise<string> {
  const digest = createHash(hash);
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) digest.update(chunk);
  return digest.digest(encoding);
}
