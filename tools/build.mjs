// Builds dist/ from nothing, so that a file removed from the source cannot live on in the package.
// --fast    skips type checking (the tests use it; `npm run check` checks types)
// --tests   also compiles the programs that tests start as processes of their own, into dist/test
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const options = new Set(process.argv.slice(2));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const compile = (...args) => execFileSync(process.execPath, [tsc, ...args], { stdio: "inherit" });
// One file at a time, with nothing looked up: for what is not part of the library.
const transpile = (rootDir, outDir, ...args) =>
  compile("--noEmit", "false", "--noCheck", "--noResolve", "--rootDir", rootDir, "--outDir", outDir, ...args);

rmSync("dist", { recursive: true, force: true });
compile("-p", "tsconfig.build.json", ...(options.has("--fast") ? ["--noCheck"] : []));
// The page runs in a browser and is not bundled.
const page = "apps/dashboard/page";
transpile(page, join("dist", page), "-p", "tsconfig.page.json");
for (const name of readdirSync(page)) if (/\.(html|css|svg)$/.test(name)) cpSync(join(page, name), join("dist", page, name));
chmodSync("dist/apps/cli/main.js", 0o755);
// Data that the compiler leaves alone.
const DATA = [
  "apps/demo/scenario.yaml",
  "bench/routerbench/corpus",
  "src/router/embeddings/head.json",
  "src/router/evidence/weights.json",
];
for (const path of DATA) cpSync(path, join("dist", path), { recursive: true });
if (options.has("--tests")) transpile(".", "dist", "-p", "tsconfig.test-programs.json");
writeFileSync("dist/.built", [...options].join(" "));
