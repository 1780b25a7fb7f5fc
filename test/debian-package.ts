import { execFile } from "node:child_process";
import { promisify } from "node:util";

const INSTALL_MS = 300_000;

/** Installs a package of the system where that is possible. Whether it worked shows in what is there afterwards. */
export async function installed(name: string, isThere: () => boolean): Promise<boolean> {
  if (isThere()) return true;
  if (process.getuid?.() !== 0) return false;
  // A machine that has never asked does not know where packages are.
  for (const steps of [["install"], ["update", "install"]]) {
    for (const step of steps) await aptGet(step, name);
    if (isThere()) return true;
  }
  return false;
}

async function aptGet(step: string, name: string): Promise<void> {
  const words = step === "install" ? ["install", "-y", "-qq", "-o", "DPkg::Lock::Timeout=60", name] : [step, "-qq"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await promisify(execFile)("apt-get", words, { timeout: INSTALL_MS, env }).catch(() => undefined);
}
