import { median, percentile, variation } from "./statistics.js";

/** The counts of one arm in one slice of time. */
export interface Slice {
  /** Answers inside the measured window. */
  readonly counted: number;
  /** All answers, those of the ramp and of the drain too: the server's CPU time belongs to these. */
  readonly completed: number;
  readonly windowMs: number;
  readonly p50Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
  readonly variation: number;
}

export interface Window {
  /** Requests are sent but not counted: connections open, caches fill. */
  readonly rampMs: number;
  readonly windowMs: number;
  /** The window stays open until this many answers were counted: for a stalled arm, or one that must warm up. */
  readonly minAnswers?: number;
}

/** Turns of one arm as one slice. Latencies are the medians of those of the turns. */
export function joinSlices(slices: readonly Slice[]): Slice {
  const sum = (of: (slice: Slice) => number) => slices.reduce((total, slice) => total + of(slice), 0);
  const middle = (of: (slice: Slice) => number) => median(slices.map(of));
  return {
    counted: sum(({ counted }) => counted),
    completed: sum(({ completed }) => completed),
    windowMs: sum(({ windowMs }) => windowMs),
    p50Us: middle(({ p50Us }) => p50Us),
    p95Us: middle(({ p95Us }) => p95Us),
    p99Us: middle(({ p99Us }) => p99Us),
    variation: middle(({ variation }) => variation),
  };
}

export interface Tally {
  /** Still sending? */
  open(): boolean;
  /** Counts the answer to a request sent at `sentAt`. Returns the time, for the next `sentAt`. */
  record(sentAt: number): number;
  slice(): Slice;
}

/** The minimum number of answers of a meaningful slice. */
const MIN_ANSWERS = 16;
/** No window stays open longer than this past its time. */
const PATIENCE_MS = 10_000;
/** More answers than this in one slice are counted, but their latencies are not kept. */
const MAX_SAMPLES = 1_000_000;

/** Counts answers in the window after the ramp. `now` is in milliseconds, with fractions. */
export function startTally({ rampMs, windowMs, minAnswers = MIN_ANSWERS }: Window, now: () => number): Tally {
  const from = now() + rampMs;
  const until = from + windowMs;
  const latencies: number[] = [];
  let counted = 0;
  let completed = 0;
  let lastAt = from;
  const wanted = (at: number) => at < until || (counted < minAnswers && at < until + PATIENCE_MS);
  return {
    open: () => wanted(now()),
    record(sentAt) {
      const at = now();
      completed++;
      if (at >= from && wanted(at)) {
        counted++;
        lastAt = at;
        if (latencies.length < MAX_SAMPLES) latencies.push(at - sentAt);
      }
      return at;
    },
    slice() {
      if (counted === 0) throw new Error(`no answer within ${windowMs + PATIENCE_MS} ms`);
      const sorted = Float64Array.from(latencies).sort();
      return {
        counted,
        completed,
        windowMs: Math.max(until, lastAt) - from,
        p50Us: percentile(sorted, 0.5) * 1000,
        p95Us: percentile(sorted, 0.95) * 1000,
        p99Us: percentile(sorted, 0.99) * 1000,
        variation: variation(sorted),
      };
    },
  };
}
