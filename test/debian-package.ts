import { execFile } from "node:child_process";
import { promisify } from "node:util";

const INSTALL_MS = 120_000;

/** Installs a Debian package if this process may. Returns whether the program is available afterwards. */
export async function installed(name: string, isThere: () => boolean): Promise<boolean> {
  if (isThere()) return true;
  if (process.getuid?.() !== 0) return false;
  // A fresh machine has no package lists.
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
