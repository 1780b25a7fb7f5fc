/**
 * An ETag for small documents. Not a security digest: two multiply-xor lanes give 53 bits; a collision costs one stale read of a
 * card.
 */
export function etagOf(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return `"${(4294967296 * (2097151 & low) + (high >>> 0)).toString(36)}-${text.length.toString(36)}"`;
}

/** RFC 9110 §13.1.2: whether the client already has it. Weak comparison. */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch === "*" || ifNoneMatch.split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}
