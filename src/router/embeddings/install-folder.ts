import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Maybe } from "../../envelope/index.js";

/** Marks a folder as an installation: written last, checked before anything is replaced or removed. */
export const MARK = "koine-embeddings.json";

/** Where the optional packages are: the folder given, `KOINE_EMBEDDINGS_DIR`, or the user's cache. */
export function embeddingsDir(dir: Maybe<string>, env: NodeJS.ProcessEnv = process.env): string {
  if (dir !== undefined) return resolve(dir);
  if (env["KOINE_EMBEDDINGS_DIR"]) return resolve(env["KOINE_EMBEDDINGS_DIR"]);
  // An empty variable counts as unset, as the XDG specification says.
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "koine", "embeddings");
}
