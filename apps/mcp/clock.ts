/** Time and waiting, so that tests need neither. */
export interface Clock {
  now(): number;
  /** Runs once, later; the returned function takes it back. */
  after(ms: number, run: () => void): () => void;
}

/** The machine's own. What waits here never keeps the process alive. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Waits for the work, but no longer than this. What is late goes on by itself. */
export async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  let forget: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    forget = clock.after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    forget();
  }
}
