import { findChromium } from "./dashboard/find-chromium.js";
import { installed } from "./debian-package.js";
import { redisAvailable } from "./redis-server.js";

/** Once, before the test files run side by side: installing a program is nothing that two of them can do at a time. */
export async function setup(): Promise<void> {
  await redisAvailable();
  await installed("chromium", () => findChromium() !== undefined);
}
