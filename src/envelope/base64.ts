const CHUNK = 0x2000; // String.fromCharCode is limited by the maximum number of arguments

/** Padded base64 (RFC 4648 §4) without Node built-ins. */
export function encodeBase64(bytes: Uint8Array): string {
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
