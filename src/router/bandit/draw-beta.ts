import type { Random } from "./random.js";

/**
 * One draw from the Beta distribution, as two draws from the Gamma distribution. Both shapes are at least 1, the value
 * without evidence. `Math.log` is the one function here whose last bit the language leaves open; V8 computes it in software,
 * so that every Node agrees. `Math.sqrt` is exact by IEEE 754.
 */
export function drawBeta(random: Random, a: number, b: number): number {
  const forIt = drawGamma(random, a);
  const against = drawGamma(random, b);
  return forIt / (forIt + against);
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", 2000: accepts more than nine of ten draws. */
export function drawGamma(random: Random, shape: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const root = 1 + c * x;
    if (root <= 0) continue;
    const v = root * root * root;
    const u = random.fraction();
    const square = x * x;
    // The first test is cheap and nearly always sufficient.
    if (u < 1 - 0.0331 * square * square) return d * v;
    if (Math.log(u) < square / 2 + d * (1 - v + Math.log(v))) return d * v;
  }
}

/** Marsaglia's polar method: a point in the circle instead of sines. */
function drawNormal(random: Random): number {
  for (;;) {
    const x = 2 * random.fraction() - 1;
    const y = 2 * random.fraction() - 1;
    const square = x * x + y * y;
    if (square < 1 && square > 0) return x * Math.sqrt((-2 * Math.log(square)) / square);
  }
}
