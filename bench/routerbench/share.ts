/** A proportion with its counts and its Wilson 95 % interval. All null if nothing was counted. */
export interface Share {
  readonly hits: number;
  readonly of: number;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959963984540054;

/** Wilson's score interval: unlike the usual one it stays within 0 and 1 and is right for few cases. */
export function shareOf(hits: number, of: number): Share {
  if (of === 0) return { hits, of, value: null, low: null, high: null };
  const value = hits / of;
  const z2 = Z * Z;
  const middle = (value + z2 / (2 * of)) / (1 + z2 / of);
  const reach = (Z / (1 + z2 / of)) * Math.sqrt((value * (1 - value)) / of + z2 / (4 * of * of));
  // At the ends the bound is the end itself; rounding would miss it by a hair.
  return { hits, of, value, low: hits === 0 ? 0 : middle - reach, high: hits === of ? 1 : middle + reach };
}
