/** The slope of readings over time, and the interval that has it with 95 % confidence. */
export interface Trend {
  readonly perHour: number;
  readonly low: number;
  readonly high: number;
}

/** One reading. */
export interface Reading {
  readonly hours: number;
  readonly value: number;
}

/** Student's t for 95 %, two-sided, by degrees of freedom from 1; above that the normal distribution is close enough. */
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131];
const NORMAL = 1.96;

/** Least squares. Undefined for fewer than three readings, which have no interval. */
export function trendOf(readings: readonly Reading[]): Trend | undefined {
  const freedom = readings.length - 2;
  if (freedom < 1) return undefined;
  const mean = (of: (reading: Reading) => number): number => readings.reduce((sum, each) => sum + of(each), 0) / readings.length;
  const [hours, value] = [mean((each) => each.hours), mean((each) => each.value)];
  const spread = readings.reduce((sum, each) => sum + (each.hours - hours) ** 2, 0);
  if (spread === 0) return undefined;
  const perHour = readings.reduce((sum, each) => sum + (each.hours - hours) * (each.value - value), 0) / spread;
  const residual = readings.reduce((sum, each) => sum + (each.value - value - perHour * (each.hours - hours)) ** 2, 0);
  const margin = (T[freedom - 1] ?? NORMAL) * Math.sqrt(residual / freedom / spread);
  return { perHour, low: perHour - margin, high: perHour + margin };
}
