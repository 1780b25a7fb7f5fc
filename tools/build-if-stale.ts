import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the build reads. */
const SOURCES = ["src", "apps", "conformance", "bench", "test", "tools", "package.json", "tsconfig.json"];

/** Builds the package and the programs of tests and benches if `dist/` is missing or older than a source. */
export function buildIfStale(root: string): void {
  if (!isStale(root)) return;
  process.stderr.write("dist/ is missing or older than the sources: building\n");
  execFileSync(process.execPath, ["tools/build.mjs", "--fast", "--programs"], { cwd: root, stdio: ["ignore", 2, 2] });
}

function isStale(root: string): boolean {
  try {
    const marker = join(root, "dist", ".built");
    const builtAt = statSync(marker).mtimeMs;
    return !readFileSync(marker, "utf8").includes("--programs") || SOURCES.some((path) => newestIn(join(root, path)) > builtAt);
  } catch {
    return true;
  }
}

function newestIn(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestIn(join(path, name))), stats.mtimeMs);
}
