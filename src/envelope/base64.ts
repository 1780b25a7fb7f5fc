const CHUNK = 0x2000; // String.fromCharCode takes its bytes as arguments, and those have a limit

/** Bytes as padded base64 (RFC 4648 §4), by what every platform has: the core uses no Node built-in. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  // A spread would walk the bytes by an iterator, which takes six times as long.
  for (let start = 0; start < bytes.length; start += CHUNK)
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(start, start + CHUNK));
  return btoa(binary);
}

/** Undefined unless the text is exactly what `encodeBase64` would write: RFC 4648 §4, padded, no white space, no stray bits. */
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
