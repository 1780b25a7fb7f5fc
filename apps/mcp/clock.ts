import type { Clock } from "../../src/public/policies.js";

/** Waits for the work up to a timeout. Late work continues in the background. */
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
