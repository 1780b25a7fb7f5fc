/** Node's `Buffer`, where there is one: tens of megabytes in JavaScript take seconds, and nothing else runs meanwhile. */
interface NativeBase64 {
  from(text: string, encoding: "base64"): Uint8Array;
  from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: "base64"): string };
}
const native = (globalThis as { readonly Buffer?: NativeBase64 }).Buffer;
/** Shorter texts are decoded as fast in JavaScript, and Node would keep them in a shared pool. */
const NATIVE_CHARACTERS = 8 * 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const BEYOND_ASCII = /[^\x00-\x7f]/;

/** Decodes natively, standard or URL-safe. Undefined if that is not possible, or if any character is not base64. */
export function decodeBase64Natively(text: string, byteLength: number): Uint8Array | undefined {
  // Of a character beyond ASCII it would read the low byte.
  if (native === undefined || text.length < NATIVE_CHARACTERS || BEYOND_ASCII.test(text)) return undefined;
  // It skips other invalid characters, so that fewer bytes come out.
  const bytes = native.from(text, "base64");
  return bytes.length === byteLength ? new Uint8Array(bytes.buffer, bytes.byteOffset, byteLength) : undefined;
}

const CHUNK = 0x2000; // String.fromCharCode is limited by the maximum number of arguments

/** Padded base64 (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  if (native !== undefined) return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  let binary = "";
  // A spread would use an iterator, which takes six times as long.
  for (let start = 0; start < bytes.length; start += CHUNK)
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(start, start + CHUNK));
  return btoa(binary);
}

/** Strict inverse of `encodeBase64`: RFC 4648 §4, padded, no white space, no stray bits; undefined otherwise. */
export function decodeBase64(text: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  if (btoa(binary) !== text) return undefined;
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
