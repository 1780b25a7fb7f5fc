import type { Held } from "./workload.js";

const MB = 1024 * 1024;

/** Memory in use after garbage collection. Twice, because finalizers of the first pass free more. */
export async function held(): Promise<Held> {
  globalThis.gc?.();
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMb: heapUsed / MB, rssMb: rss / MB };
}
