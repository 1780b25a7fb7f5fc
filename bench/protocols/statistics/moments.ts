/** Mean and sample variance of the runs of an arm. */
export interface Moments {
  readonly count: number;
  readonly mean: number;
  /** With n − 1; NaN below two values. */
  readonly variance: number;
}

/** In two passes: subtracting squares of large numbers would lose the digits that matter. */
export function momentsOf(values: readonly number[]): Moments {
  const count = values.length;
  if (count === 0) throw new RangeError("moments of no values");
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / count;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return { count, mean, variance: count < 2 ? Number.NaN : squares / (count - 1) };
}

/** Sample standard deviation over mean. Undefined below two values, or around a mean of zero. */
export function coefficientOfVariation(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const { mean, variance } = momentsOf(values);
  return mean === 0 ? undefined : Math.sqrt(variance) / Math.abs(mean);
}

/** How much requests vary within their runs, and how much the runs themselves do. */
export interface Variation {
  /** The mean over runs of the variation within each. */
  readonly inRun: number | undefined;
  /** The variation of the means of the runs. */
  readonly runToRun: number | undefined;
}

export function variationOf(runs: readonly (readonly number[])[]): Variation {
  const filled = runs.filter((run) => run.length > 0);
  const within = filled.map(coefficientOfVariation).filter((value) => value !== undefined);
  return {
    inRun: within.length === 0 ? undefined : momentsOf(within).mean,
    runToRun: coefficientOfVariation(filled.map((run) => momentsOf(run).mean)),
  };
}
