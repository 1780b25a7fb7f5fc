import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { findChromium } from "./dashboard/find-chromium.js";
import { installed } from "./debian-package.js";
import { isRedisInstalled } from "./redis-server.js";

const BUILT = "dist/.built";
/** What the build reads. */
const SOURCES = ["src", "apps", "conformance", "bench/routerbench", "test", "tools", "package.json", "tsconfig.json"];

/** Runs once before all test files: builds what they start as processes, and installs the programs they need. */
export async function setup(): Promise<void> {
  if (!isBuilt()) execFileSync(process.execPath, ["tools/build.mjs", "--fast", "--tests"], { stdio: "inherit" });
  await installed("redis-server", isRedisInstalled);
  await installed("chromium", () => findChromium() !== undefined);
}

function isBuilt(): boolean {
  try {
    return readFileSync(BUILT, "utf8").includes("--tests") && SOURCES.every((path) => newestIn(path) <= statSync(BUILT).mtimeMs);
  } catch {
    return false;
  }
}

function newestIn(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestIn(join(path, name))), mtimeMs);
}
