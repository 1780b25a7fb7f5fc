// Builds dist/ from nothing, so that a file removed from the source cannot live on in the package. All entry points are bundled in
// one run with shared chunks: a start reads a few files instead of hundreds, and no class exists twice. Types are checked elsewhere
// (`npm run check`).
// --fast      leaves the declarations as they are (for tests and benches)
// --programs  also builds the programs that tests and benches start as processes of their own
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";

/** Files that match a pattern in which `*` stands for one name. */
function matching(pattern) {
  const names = pattern.split("/");
  const star = names.findIndex((name) => name.includes("*"));
  if (star < 0) return existsSync(pattern) ? [pattern] : [];
  const [before, after] = names[star].split("*");
  const folder = names.slice(0, star).join("/");
  return readdirSync(folder)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .flatMap((name) => matching([folder, name, ...names.slice(star + 1)].join("/")));
}

const options = new Set(process.argv.slice(2));
const { bin, exports } = JSON.parse(readFileSync("package.json", "utf8"));
const sourceOf = (built) => built.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts");
const DOORS = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [sourceOf(target.default)]));
const PROCESSES = ["apps/up/child.ts", "apps/demo/agents/*.ts"];
/** Modules that scripts of tests import, and programs that tests and benches start. */
const PROGRAMS = [
  "test/helpers/stores/contract-samples.ts",
  "test/gateway/processes/*.ts",
  "test/chaos/replica.ts",
  "test/damage/reader.ts",
  "test/watermark/processes/*.ts",
  "test/attack/processes/*.ts",
  "bench/micro/*/workers/*.ts",
];
const PAGE = "apps/dashboard/page";
/** Data that the bundle leaves alone, read by `packageFile()`. */
const DATA = [
  "apps/demo/scenario.yaml",
  "bench/routerbench/corpus",
  "src/router/embeddings/head.json",
  "src/router/evidence/weights.json",
];

if (!options.has("--fast")) rmSync("dist", { recursive: true, force: true });
else if (existsSync("dist"))
  for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.name.endsWith(".d.ts")) rmSync(join(entry.parentPath, entry.name));
const common = { outbase: ".", outdir: "dist", format: "esm", target: "es2023", logLevel: "warning" };
await Promise.all([
  build({
    ...common,
    entryPoints: [...DOORS, sourceOf(bin.koine), ...PROCESSES, ...(options.has("--programs") ? PROGRAMS : [])].flatMap(matching),
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
  }),
  // The page runs in a browser and is not bundled.
  build({ ...common, entryPoints: matching(`${PAGE}/*.ts`) }),
]);
for (const name of readdirSync(PAGE)) if (/\.(html|css|svg)$/.test(name)) cpSync(join(PAGE, name), join("dist", PAGE, name));
for (const path of DATA) cpSync(path, join("dist", path), { recursive: true });
chmodSync(bin.koine, 0o755);
if (!options.has("--fast")) {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--noCheck"], { stdio: "inherit" });
}
writeFileSync("dist/.built", [...options].join(" "));
