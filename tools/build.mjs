// Builds dist/ from nothing, so that a file removed from the source cannot live on in the package.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";

rmSync("dist", { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { stdio: "inherit" });
if (existsSync("dist/cli/main.js")) chmodSync("dist/cli/main.js", 0o755);
// The compiler leaves alone what is not TypeScript.
if (existsSync("routerbench/corpus")) cpSync("routerbench/corpus", "dist/routerbench/corpus", { recursive: true });
