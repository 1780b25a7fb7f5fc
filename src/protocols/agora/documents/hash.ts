import { encodeBase64, RecentMap } from "../../../envelope/index.js";

/**
 * The hashes of a protocol document. `sha1` is its name on the wire. SHA-1 collisions can be constructed, so everything trusted
 * is bound to `sha256`.
 */
export interface Fingerprint {
  /** Base64 of 20 bytes: 28 characters. */
  readonly sha1: string;
  /** Base64 of 32 bytes: 44 characters. */
  readonly sha256: string;
}

/** Limits of the fingerprint cache: number and length of documents. A peer can send any text as a document. */
const REMEMBERED = 128;
const REMEMBERED_CHARACTERS = 64 * 1024;
const known = new RecentMap<Promise<Fingerprint>>(REMEMBERED);
const encoder = new TextEncoder();

/** Hashes the exact UTF-8 bytes: nothing is trimmed or normalised. The same text is hashed once. */
export function fingerprintOf(text: string): Promise<Fingerprint> {
  const before = known.get(text);
  if (before !== undefined) return before;
  const made = makeFingerprint(encoder.encode(text));
  if (text.length <= REMEMBERED_CHARACTERS) known.set(text, made);
  return made;
}

/** The name of a document on the wire. */
export async function protocolHash(text: string): Promise<string> {
  return (await fingerprintOf(text)).sha1;
}

/** Whether a text can be a document hash: base64 of 20 bytes. */
export function isHash(value: string): boolean {
  return /^[A-Za-z0-9+/]{27}=$/.test(value);
}

async function makeFingerprint(bytes: Uint8Array<ArrayBuffer>): Promise<Fingerprint> {
  const [sha1, sha256] = await Promise.all([crypto.subtle.digest("SHA-1", bytes), crypto.subtle.digest("SHA-256", bytes)]);
  return { sha1: encodeBase64(new Uint8Array(sha1)), sha256: encodeBase64(new Uint8Array(sha256)) };
}
