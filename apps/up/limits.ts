/** Timeouts and limits of a running network. */
export interface UpLimits {
  /** Default time from start to the first successful ping. */
  readonly readyMs: number;
  /** Interval of pings until a module is ready. */
  readonly pollMs: number;
  /** Interval of pings once a module is ready. */
  readonly pingEveryMs: number;
  /** Timeout of one ping. */
  readonly pingMs: number;
  /** Consecutive failed pings after which a process is restarted. */
  readonly hungPings: number;
  /** The first restart delay; it doubles up to `longestBackoffMs`. */
  readonly backoffMs: number;
  /** The longest restart delay. */
  readonly longestBackoffMs: number;
  /** The backoff is reset after a module was ready for this long. */
  readonly steadyMs: number;
  /** A module that exceeds this limit is given up until it is restarted manually. */
  readonly restartsPerMinute: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly drainMs: number;
  /** Maximum length of an output line; the rest is dropped. */
  readonly lineCharacters: number;
}

/** The default limits. */
export const UP_LIMITS: UpLimits = {
  readyMs: 20_000,
  pollMs: 100,
  pingEveryMs: 2_000,
  pingMs: 2_000,
  hungPings: 5,
  backoffMs: 200,
  longestBackoffMs: 10_000,
  steadyMs: 30_000,
  restartsPerMinute: 5,
  drainMs: 10_000,
  lineCharacters: 4_096,
};
