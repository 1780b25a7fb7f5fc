import type { Range } from "./result.js";

/** The 97.5th percentile of the normal distribution: two-sided 95 %. */
export const Z_95 = 1.959963984540054;

/** Wilson's 95 % score interval of a proportion: unlike the usual one it stays within 0 and 1 and is right for few cases. */
export function wilson(hits: number, of: number): Range | undefined {
  if (of === 0) return undefined;
  const value = hits / of;
  const z2 = Z_95 * Z_95;
  const middle = (value + z2 / (2 * of)) / (1 + z2 / of);
  const reach = (Z_95 / (1 + z2 / of)) * Math.sqrt((value * (1 - value)) / of + z2 / (4 * of * of));
  // At the ends the bound is the end itself; rounding would miss it by a hair.
  return [hits === 0 ? 0 : middle - reach, hits === of ? 1 : middle + reach];
}

/**
 * McNemar's exact test: the two-sided binomial test on the pairs that differ. The approximation by chi squared is wrong for few of
 * them.
 */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
  const different = onlyFirst + onlySecond;
  // The logarithm of 2^-n n!/(k!(n-k)!), summed from k to k+1: products of many small numbers would be 0.
  let term = -different * Math.LN2;
  let tail = Math.exp(term);
  for (let count = 1; count <= Math.min(onlyFirst, onlySecond); count++) {
    term += Math.log((different - count + 1) / count);
    tail += Math.exp(term);
  }
  return Math.min(1, 2 * tail);
}
