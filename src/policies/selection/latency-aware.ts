import type { Maybe } from "../../envelope/index.js";
import { circuitCallResult } from "../circuit/call-result.js";
import type { Clock } from "../clock.js";
import type { Destination } from "../destination.js";
import { LatencyAverage } from "./latency-average.js";
import { LatencyWindow } from "./latency-window.js";
import { type Choice, choose, type Observation, type Selector, sortedBy } from "./selector.js";

export interface LatencyAwareOptions {
  /** `ewma`: an average that forgets. `percentile`: the slow answers decide, from a sliding window. */
  readonly by: "ewma" | "percentile";
  readonly clock: Clock;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  /** `ewma`: how fast it forgets. Default: 10 seconds. */
  readonly decayMs?: Maybe<number>;
  /** `percentile`: which one. Default: 0.95. */
  readonly percentile?: Maybe<number>;
  /** `percentile`: the window by number and by age. Default: 128 latencies of the last minute. */
  readonly samples?: Maybe<number>;
  readonly keepMs?: Maybe<number>;
  /** A failure counts as an answer that took at least this long. Default: 5 seconds. */
  readonly failedAsMs?: Maybe<number>;
}

const DECAY_MS = 10_000;
const PERCENTILE = 0.95;
const SAMPLES = 128;
const KEEP_MS = 60_000;
const FAILED_AS_MS = 5_000;
/** What somebody new is taken for while its first answer is awaited: it is tried, but not flooded. */
const UNKNOWN_MS = 1_000;

interface Seen {
  readonly latency: LatencyAverage | LatencyWindow;
  /** Attempts whose first event is awaited. */
  pending: number;
}

/**
 * Who answers sooner gets more. Latency is the time to the first event; it counts once for each attempt that is still
 * waiting there, so that a destination which hangs is avoided before its first slow answer comes in. Failures count as
 * slow. Of two drawn at random the better one is taken: always taking the best sends everybody, and every other gateway
 * with the same view, to one place until it is the worst. Somebody new goes first when it is drawn, with one message at a
 * time; somebody slow is forgiven with time, so that nobody starves. A stream that is cut later is the breaker's affair.
 */
export function latencyAware(options: LatencyAwareOptions): Selector {
  const { clock, random, failedAsMs = FAILED_AS_MS } = options;
  // Not by id: what is no longer configured is forgotten with the configuration.
  const seen = new WeakMap<Destination, Seen>();
  const seenOf = (destination: Destination): Seen => {
    const known = seen.get(destination);
    if (known !== undefined) return known;
    const fresh: Seen = { latency: latencyOf(options), pending: 0 };
    seen.set(destination, fresh);
    return fresh;
  };
  const scoreOf = (destination: Destination, nowMs: number): number => {
    const { latency, pending } = seenOf(destination);
    const knownMs = latency.value(nowMs);
    if (knownMs === undefined && pending === 0) return 0;
    return (knownMs ?? UNKNOWN_MS) * (pending + 1);
  };
  return {
    name: `latency-${options.by}`,
    order: (usable, operation) =>
      choose(usable, operation, (able) => {
        const nowMs = clock.now();
        const best = betterOfTwo(able, random, (each) => scoreOf(each, nowMs));
        const others = sortedBy(able, (each) => (each === best ? Number.NEGATIVE_INFINITY : scoreOf(each, nowMs)));
        return { order: others, because: reasonFor(seenOf(best), nowMs) } satisfies Choice;
      }),
    began(destination) {
      seenOf(destination).pending++;
    },
    observe(destination, observation) {
      const found = seenOf(destination);
      found.pending--;
      const ms = latencyIn(observation, failedAsMs);
      if (ms !== undefined) found.latency.add(ms, clock.now());
    },
  };
}

function latencyOf({ by, decayMs, percentile, samples, keepMs }: LatencyAwareOptions): LatencyAverage | LatencyWindow {
  if (by === "ewma") return new LatencyAverage(decayMs ?? DECAY_MS);
  return new LatencyWindow({
    percentile: percentile ?? PERCENTILE,
    samples: samples ?? SAMPLES,
    keepMs: keepMs ?? KEEP_MS,
    enough: 1,
  });
}

/** Two different ones, drawn with equal chance. */
function betterOfTwo(
  able: readonly Destination[],
  random: () => number,
  scoreOf: (destination: Destination) => number,
): Destination {
  const one = Math.floor(random() * able.length);
  const step = 1 + Math.floor(random() * (able.length - 1));
  const [a, b] = [able[one], able[(one + step) % able.length]];
  if (a === undefined || b === undefined) throw new RangeError("two are needed to draw two"); // `choose` gives two or more
  return scoreOf(b) < scoreOf(a) ? b : a;
}

function reasonFor({ latency, pending }: Seen, nowMs: number): string {
  const knownMs = latency.value(nowMs);
  const waiting = pending === 0 ? "" : `, ${pending} waiting`;
  return knownMs === undefined ? "not known yet" : `the sooner of two drawn: ${knownMs.toFixed(0)} ms${waiting}`;
}

/** A refusal by somebody who is well is an answer as any other; a caller that left has learned nothing. */
function latencyIn(observation: Observation, failedAsMs: number): Maybe<number> {
  if (observation.kind === "left") return undefined;
  const { afterMs } = observation;
  if (observation.kind === "answered") return afterMs;
  const verdict = circuitCallResult(observation.error, afterMs, 0);
  if (verdict === "nothing") return undefined;
  return verdict === "fails" ? Math.max(afterMs, failedAsMs) : afterMs;
}
