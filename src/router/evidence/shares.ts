/** e to the power of x, for x at most 0, by multiplication alone: the same bits on every machine. */
export function exp(x: number): number {
  // (1 + x/2^12)^(2^12): precise enough for probabilities, and independent of the maths library.
  let power = 1 + Math.max(x, -40) / 4096;
  if (power <= 0) return 0;
  for (let doubling = 0; doubling < 12; doubling++) power *= power;
  return power;
}

/** Softmax: scores to shares that sum to one. `result` may be the scores themselves. */
export function shares(scores: ArrayLike<number>, result = new Float64Array(scores.length)): Float64Array {
  let highest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < scores.length; index++) highest = Math.max(highest, scores[index] ?? 0);
  let sum = 0;
  for (let index = 0; index < scores.length; index++) {
    const share = exp((scores[index] ?? 0) - highest);
    result[index] = share;
    sum += share;
  }
  for (let index = 0; index < result.length; index++) result[index] = (result[index] ?? 0) / sum;
  return result;
}
