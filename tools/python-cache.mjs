// Where virtual environments of Python live: in the user's cache, so that they outlive a clone, one for each list of packages.
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";

/** The folder of the environment `name` with these packages. */
export function environmentFolder(name, requirements) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const hash = createHash("sha256").update(requirements).digest("hex").slice(0, 12);
  return join(cache, "koine", "python", `${name}-${hash}`);
}

/** The interpreter of an environment. */
export function interpreterIn(folder) {
  return process.platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
}
