import type { Maybe } from "../../envelope/index.js";
import { circuitCallResult } from "../circuit/call-result.js";
import type { Clock } from "../clock.js";
import type { Destination } from "../destination.js";
import { LatencyAverage } from "./latency-average.js";
import { LatencyWindow } from "./latency-window.js";
import { type Choice, choose, type Observation, type Selector, sortedBy } from "./selector.js";

/** Options of `latencyAware`. */
export interface LatencyAwareOptions {
  /** `ewma`: an exponentially weighted average. `percentile`: a percentile of a sliding window. */
  readonly by: "ewma" | "percentile";
  /** The time source. */
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** `ewma`: the decay time. Default: 10 s. */
  readonly decayMs?: Maybe<number>;
  /** `percentile`: which one. Default: 0.95. */
  readonly percentile?: Maybe<number>;
  /** `percentile`: the size of the window. Default: 128 latencies. */
  readonly samples?: Maybe<number>;
  /** `percentile`: the age of the window. Default: one minute. */
  readonly keepMs?: Maybe<number>;
  /** A failure counts as a latency of at least this. Default: 5 s. */
  readonly failedAsMs?: Maybe<number>;
}

const DECAY_MS = 10_000;
const PERCENTILE = 0.95;
const SAMPLES = 128;
const KEEP_MS = 60_000;
const FAILED_AS_MS = 5_000;
/** The latency assumed for a new destination until its first answer: it is tried but not flooded. */
const UNKNOWN_MS = 1_000;

interface Seen {
  readonly latency: LatencyAverage | LatencyWindow;
  /** Attempts that wait for their first event. */
  pending: number;
}

/**
 * Prefers destinations that answer sooner. Latency is the time to the first event, counted once for each pending attempt, so
 * that a hanging destination is avoided before its first slow answer. Failures count as slow. The better of two random
 * destinations is used: always using the best would send every caller, and every gateway with the same view, to one
 * destination until it is the worst. A new destination is preferred when drawn, with one message at a time; latencies decay,
 * so that no destination starves. Streams interrupted later are handled by the circuit breaker.
 */
export function latencyAware(options: LatencyAwareOptions): Selector {
  const { clock, random, failedAsMs = FAILED_AS_MS } = options;
  // Keyed by object, not by id: state ends with the configuration it belongs to.
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
    callStarted(destination) {
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

/** Two different destinations, drawn with equal probability. */
function betterOfTwo(
  able: readonly Destination[],
  random: () => number,
  scoreOf: (destination: Destination) => number,
): Destination {
  const one = Math.floor(random() * able.length);
  const step = 1 + Math.floor(random() * (able.length - 1));
  const [a, b] = [able[one], able[(one + step) % able.length]];
  if (a === undefined || b === undefined) throw new RangeError("at least two destinations are needed"); // `choose` gives two or more
  return scoreOf(b) < scoreOf(a) ? b : a;
}

function reasonFor({ latency, pending }: Seen, nowMs: number): string {
  const knownMs = latency.value(nowMs);
  const waiting = pending === 0 ? "" : `, ${pending} waiting`;
  return knownMs === undefined ? "not known yet" : `the faster of two drawn: ${knownMs.toFixed(0)} ms${waiting}`;
}

/** A rejection by a healthy peer is an answer; an abandoned call says nothing. */
function latencyIn(observation: Observation, failedAsMs: number): Maybe<number> {
  if (observation.kind === "left") return undefined;
  const { afterMs } = observation;
  if (observation.kind === "answered") return afterMs;
  const result = circuitCallResult(observation.error, afterMs, 0);
  if (result === "nothing") return undefined;
  return result === "fails" ? Math.max(afterMs, failedAsMs) : afterMs;
}
