/** A signal that aborts with another one or after a timeout; `stop` releases both. */
export interface LimitedSignal {
  readonly signal: AbortSignal;
  stop(): void;
}

/** Not `AbortSignal.any` with a timeout: on Node 20 such a signal may be collected before its time, and then never fires. */
export function limitedSignal(other: AbortSignal, ms: number): LimitedSignal {
  const controller = new AbortController();
  const end = (): void => controller.abort(other.reason);
  const timer = setTimeout(() => controller.abort(), ms);
  // A time limit alone must not keep the process alive.
  timer.unref();
  if (other.aborted) end();
  else other.addEventListener("abort", end, { once: true });
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      other.removeEventListener("abort", end);
    },
  };
}
