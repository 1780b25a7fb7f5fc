// Builds dist/ from nothing, so that a file removed from the source cannot live on in the package.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

rmSync("dist", { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const compile = (...options) => execFileSync(process.execPath, [tsc, ...options], { stdio: "inherit" });
compile("-p", "tsconfig.build.json");
// The page runs in a browser: it is compiled by itself, file by file, and bundled by nobody.
const page = [
  "--noEmit",
  "false",
  "--noCheck",
  "--noResolve",
  "--rootDir",
  "apps/dashboard/page",
  "--outDir",
  "dist/apps/dashboard/page",
];
compile("-p", "tsconfig.page.json", ...page);
for (const name of readdirSync("apps/dashboard/page"))
  if (/\.(html|css|svg)$/.test(name)) cpSync(join("apps/dashboard/page", name), join("dist/apps/dashboard/page", name));
if (existsSync("dist/apps/cli/main.js")) chmodSync("dist/apps/cli/main.js", 0o755);
// The compiler leaves alone what is not TypeScript.
cpSync("apps/demo/scenario.yaml", "dist/apps/demo/scenario.yaml");
if (existsSync("bench/routerbench/corpus"))
  cpSync("bench/routerbench/corpus", "dist/bench/routerbench/corpus", { recursive: true });
