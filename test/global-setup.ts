import { buildIfStale } from "../tools/build-if-stale.js";
import { findChromium, isShellInstalled } from "./dashboard/find-chromium.js";
import { installed } from "./debian-package.js";
import { isIpInstalled } from "./helpers/network-namespaces.js";
import { isRedisInstalled } from "./redis-server.js";

/** Runs once before all test files: builds what they start as processes, and installs the programs they need. */
export async function setup(): Promise<void> {
  buildIfStale(process.cwd());
  await installed("redis-server", isRedisInstalled);
  await installed("iproute2", isIpInstalled);
  if (!(await installed("chromium-headless-shell", isShellInstalled)))
    await installed("chromium", () => findChromium() !== undefined);
}
