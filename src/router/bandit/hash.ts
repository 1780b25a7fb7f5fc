/** The offset basis and the prime of FNV-1a, and a second pair of odd numbers for the other half. */
const FIRST = { basis: 0x811c9dc5, factor: 0x01000193 };
const SECOND = { basis: 0x9747b28d, factor: 0x85ebca6b };

/** A 64-bit hash of a text as two words: the same on every machine, not cryptographic. */
export function hashOf(text: string): readonly [number, number] {
  let first = FIRST.basis;
  let second = SECOND.basis;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, FIRST.factor);
    // The rotation brings high bits down, which multiplication alone never does.
    second = Math.imul(rotated(second, 15) ^ unit, SECOND.factor);
  }
  return [mixed(first ^ text.length), mixed(second ^ text.length)];
}

/** A bijective mix: every bit of the input changes every bit of the result with equal probability. */
export function mixed(word: number): number {
  let bits = word;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

export function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
