/** Distribution functions. Accurate to about ten digits against SciPy; docs/decisions/0022 says why they are here. */

/** Steps of a series or continued fraction; the slowest case in use needs a few hundred. */
const MAX_STEPS = 20_000;
const EPSILON = 2 ** -53;
/** Stands for zero in Lentz's method. */
const TINY = 1e-300;

export function normalDensity(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}

/** Beyond this the series loses digits and the continued fraction converges quickly. */
const NORMAL_TAIL = 3;

/** P(Z ≤ z): the series of Marsaglia in the middle, the continued fraction of Laplace in the tails. */
export function normalCdf(z: number): number {
  if (Number.isNaN(z)) return Number.NaN;
  if (z > NORMAL_TAIL) return 1 - normalUpper(z);
  if (z < -NORMAL_TAIL) return normalUpper(-z);
  let term = z;
  let sum = z;
  for (let odd = 3; Math.abs(term) > EPSILON * Math.abs(sum); odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return 0.5 + normalDensity(z) * sum;
}

const LAPLACE_DEPTH = 200;

/** P(Z > z) for z of at least 3. */
function normalUpper(z: number): number {
  let fraction = z;
  for (let step = LAPLACE_DEPTH; step >= 1; step--) fraction = z + step / fraction;
  return normalDensity(z) / fraction;
}

/** The end of what a normal quantile of a double can be. */
const NORMAL_END = 40;

export function normalQuantile(p: number): number {
  if (p === 0.5) return 0;
  return p < 0.5 ? invert(normalCdf, p, [-NORMAL_END, 0]) : -normalQuantile(1 - p);
}

const LANCZOS_G = 7;
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** The logarithm of the gamma function, for positive arguments (Lanczos). */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const at = x - 1;
  const base = at + LANCZOS_G + 0.5;
  const sum = LANCZOS.reduce((total, coefficient, index) => total + (index === 0 ? coefficient : coefficient / (at + index)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (at + 0.5) * Math.log(base) - base + Math.log(sum);
}

/** The regularised incomplete beta function: P(X ≤ x) for a beta distribution. */
export function betaCdf(x: number, a: number, b: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges quickly on the near side of the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaTail(1 - x, b, a);
  return betaTail(x, a, b);
}

function betaTail(x: number, a: number, b: number): number {
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return (front * betaFraction(x, a, b)) / a;
}

/** The continued fraction of the incomplete beta function, by the method of Lentz. */
function betaFraction(x: number, a: number, b: number): number {
  const nonzero = (value: number) => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= MAX_STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < EPSILON * 4) return value;
  }
  throw new RangeError(`the incomplete beta function did not converge at x = ${x}, a = ${a}, b = ${b}`);
}

export function betaQuantile(p: number, a: number, b: number): number {
  return invert((x) => betaCdf(x, a, b), p, [0, 1]);
}

/** P(T > t) of Student's distribution. */
export function tUpper(t: number, freedom: number): number {
  const half = betaCdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t >= 0 ? half : 1 - half;
}

export function tCdf(t: number, freedom: number): number {
  return tUpper(-t, freedom);
}

/** Large enough for one degree of freedom at the smallest level that is ever asked for. */
const T_END = 1e12;

export function tQuantile(p: number, freedom: number): number {
  if (p === 0.5) return 0;
  return p < 0.5 ? invert((t) => tCdf(t, freedom), p, [-T_END, 0]) : -tQuantile(1 - p, freedom);
}

/** Beyond it the weights of the series vanish as doubles. */
export const MAX_NONCENTRALITY = 37;

/** P(T ≤ t) of the noncentral t distribution (Lenth, algorithm AS 243). It is what the power of a t-test needs. */
export function noncentralTCdf(t: number, freedom: number, shift: number): number {
  if (Math.abs(shift) > MAX_NONCENTRALITY) throw new RangeError(`noncentrality ${shift} is above ${MAX_NONCENTRALITY}`);
  if (t < 0) return 1 - noncentralTCdf(-t, freedom, -shift);
  const x = (t * t) / (t * t + freedom);
  const rate = (shift * shift) / 2;
  const halves = betaSteps(x, 0.5, freedom / 2);
  const wholes = betaSteps(x, 1, freedom / 2);
  let even = Math.exp(-rate);
  let odd = (shift * Math.exp(-rate)) / (Math.SQRT2 * (Math.sqrt(Math.PI) / 2));
  let left = 1 - even;
  let sum = 0;
  for (let step = 0; step < MAX_STEPS; step++) {
    sum += even * halves() + odd * wholes();
    if (step > rate && left < 1e-15) break;
    even *= rate / (step + 1);
    odd *= rate / (step + 1.5);
    left -= even;
  }
  return normalCdf(-shift) + sum / 2;
}

/** The incomplete beta function at a, a + 1, a + 2, …: each is the last one less a term that follows from the last term. */
function betaSteps(x: number, first: number, b: number): () => number {
  if (x <= 0 || x >= 1) return () => (x <= 0 ? 0 : 1);
  let a = first;
  let value = betaCdf(x, a, b);
  let term = Math.exp(logGamma(a + b) - logGamma(a + 1) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return () => {
    const now = value;
    value = Math.max(0, value - term);
    a++;
    term *= (x * (a + b - 1)) / a;
    return now;
  };
}

const MAX_ROOT_STEPS = 500;

/** Where an increasing function reaches a value, within a range that contains it (Chandrupatla 1997). */
export function invert(
  increasing: (x: number) => number,
  value: number,
  [low, high]: readonly [low: number, high: number],
): number {
  const at = (x: number): Point => ({ x, f: increasing(x) - value });
  let [newest, other] = [at(low), at(high)];
  let step = 0.5;
  for (let count = 0; count < MAX_ROOT_STEPS; count++) {
    const next = at(newest.x + step * (other.x - newest.x));
    const sameSide = Math.sign(next.f) === Math.sign(newest.f);
    const dropped = sameSide ? newest : other;
    other = sameSide ? other : newest;
    newest = next;
    const nearest = Math.abs(newest.f) < Math.abs(other.f) ? newest : other;
    const share = (4 * EPSILON * Math.abs(nearest.x) + TINY) / Math.abs(other.x - newest.x);
    if (share > 0.5 || nearest.f === 0) return nearest.x;
    step = Math.min(Math.max(nextStep(newest, other, dropped), share), 1 - share);
  }
  throw new RangeError(`no root between ${low} and ${high} after ${MAX_ROOT_STEPS} steps`);
}

interface Point {
  readonly x: number;
  readonly f: number;
}

/** Inverse quadratic interpolation where it is safe, halving where it is not. */
function nextStep(newest: Point, other: Point, dropped: Point): number {
  const xi = (newest.x - other.x) / (dropped.x - other.x);
  const phi = (newest.f - other.f) / (dropped.f - other.f);
  if (phi ** 2 >= xi || (1 - phi) ** 2 >= 1 - xi) return 0.5;
  return (
    (newest.f / (other.f - newest.f)) * (dropped.f / (other.f - dropped.f)) +
    (((dropped.x - newest.x) / (other.x - newest.x)) * newest.f * other.f) / ((dropped.f - newest.f) * (dropped.f - other.f))
  );
}
