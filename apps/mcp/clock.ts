import type { Clock } from "../../src/public/policies.js";

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
