/**
 * Nanoseconds since the start of a run. The monotonic clock is the same in all processes of a machine, so their stamps can be
 * subtracted.
 */
export type RunClock = () => number;

/** The origin of a run, to be sent to its processes. */
export function clockOrigin(): bigint {
  return process.hrtime.bigint();
}

export function runClock(origin: bigint): RunClock {
  return () => Number(process.hrtime.bigint() - origin);
}
