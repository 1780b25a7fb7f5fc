// Builds dist/ from nothing, so that a file removed from the source cannot live on in the package. All entry points are bundled in
// one run with shared chunks: a start reads a few files instead of hundreds, and no class exists twice. What `import "koine"` reads
// is in four chunks (`sharedChunks`): every further file and every binding between files costs at each start. Types are checked
// elsewhere (`npm run check`).
// --fast      leaves the declarations as they are (for tests and benches)
// --programs  also builds the programs that tests and benches start as processes of their own
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { build } from "rolldown";

/** Files that match a pattern in which `*` stands for one name. */
function matching(pattern) {
  const names = pattern.split("/");
  const star = names.findIndex((name) => name.includes("*"));
  if (star < 0) return existsSync(pattern) ? [pattern] : [];
  const [before, after] = names[star].split("*");
  const folder = names.slice(0, star).join("/");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .flatMap((name) => matching([folder, name, ...names.slice(star + 1)].join("/")));
}

const options = new Set(process.argv.slice(2));
const { bin, exports } = JSON.parse(readFileSync("package.json", "utf8"));
const sourceOf = (built) => built.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts");
const DOORS = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [sourceOf(target.default)]));
const PROCESSES = [
  "apps/up/child.ts",
  "apps/demo/agents/*.ts",
  ...["agent", "caller", "wire"].map((name) => `bench/protocols/processes/${name}.ts`),
  "bench/protocols/safety/members/member.ts",
];
/** Modules that scripts of tests import, and programs that tests and benches start. */
const PROGRAMS = [
  "test/helpers/stores/contract-samples.ts",
  "test/cli/processes/*.ts",
  "test/gateway/processes/*.ts",
  "test/bench/processes/*.ts",
  "test/chaos/replica.ts",
  "test/anp/processes/*.ts",
  "test/router/bandit-learner.ts",
  "test/damage/reader.ts",
  "test/watermark/processes/*.ts",
  "test/attack/processes/*.ts",
  "test/sage/processes/*.ts",
  "bench/micro/*/workers/*.ts",
];
const PAGE = "apps/dashboard/page";
/**
 * Packages in the bundle: those that only reports need, so that an installation has none of them, and zod, of whose hundred files a start
 * needs a few (120 ms of CPU time otherwise). It stays a dependency for the declarations.
 */
const BUNDLED =
  /^(zod|@observablehq\/plot|d3(-[a-z-]+)?|internmap|delaunator|robust-predicates|interval-tree-1d|binary-search-bounds|isoformat)$/;
/** Data that the bundle leaves alone, read by `packageFile()`. */
const DATA = [
  "apps/demo/scenario.yaml",
  ...readdirSync("bench/protocols/prompts")
    .filter((name) => name.endsWith(".md"))
    .map((name) => `bench/protocols/prompts/${name}`),
  "bench/protocols/router-loop/scenarios",
  "bench/routerbench/corpus",
  "src/protocols/sage/contracts/SageRegistry.json",
  "src/router/embeddings/head.json",
  "src/router/evidence/weights.json",
];

if (!options.has("--fast")) rmSync("dist", { recursive: true, force: true });
else if (existsSync("dist"))
  for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.name.endsWith(".d.ts")) rmSync(join(entry.parentPath, entry.name));
const entries = [...DOORS, sourceOf(bin.koine), ...PROCESSES].flatMap(matching);
const programs = options.has("--programs") ? PROGRAMS.flatMap(matching) : [];
const common = { dir: "dist", format: "esm", comments: { annotation: false, jsdoc: false } };
const inputs = (paths) => Object.fromEntries(paths.map((path) => [path.replace(/\.ts$/, ""), resolve(path)]));
await build([
  {
    input: inputs([...entries, ...programs]),
    external: (id) => /^[^./]/.test(id) && !BUNDLED.test(id),
    platform: "node",
    output: {
      ...common,
      chunkFileNames: "chunks/[name]-[hash].js",
      codeSplitting: { groups: sharedChunks() },
    },
  },
  // The page runs in a browser and is not bundled.
  {
    input: inputs(matching(`${PAGE}/*.ts`)),
    platform: "browser",
    output: { ...common, preserveModules: true, preserveModulesRoot: resolve(".") },
  },
]);
for (const name of readdirSync(PAGE)) if (/\.(html|css|svg)$/.test(name)) cpSync(join(PAGE, name), join("dist", PAGE, name));
for (const path of DATA) cpSync(path, join("dist", path), { recursive: true });
writeLicenses();
chmodSync(bin.koine, 0o755);
if (!options.has("--fast")) {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--noCheck"], { stdio: "inherit" });
}
writeFileSync("dist/.built", [...options].join(" "));

/** The licences of the packages in the bundle, which ask to be kept with every copy. */
function writeLicenses() {
  const packages = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
  const names = Object.keys(packages).flatMap((path) => path.match(/^node_modules\/(.+)$/)?.[1] ?? []);
  const texts = names
    .filter((name) => BUNDLED.test(name))
    .map((name) => {
      const folder = join("node_modules", name);
      const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
      const text = license === undefined ? packages[folder].license : readFileSync(join(folder, license), "utf8").trim();
      return `${name} ${packages[folder].version}\n\n${text}\n`;
    });
  writeFileSync("dist/THIRD-PARTY-LICENSES.txt", texts.join(`\n${"-".repeat(80)}\n\n`));
}

/**
 * The chunks of what `import "koine"` reads: "start" if the CLI always reads it too, "light" if the router does, which needs no
 * protocol, "base" if another entry point that needs little of the whole reads it too, "core" otherwise. All other modules are left to
 * the bundler.
 */
function sharedChunks() {
  const SMALL_ENTRY = 200;
  let chunks;
  return ["core", "base", "light", "start"].map((chunk, priority) => ({
    debugName: chunk,
    priority,
    name: (id, context) => {
      chunks ??= assign((module) => context.getModuleInfo(module));
      return chunks.get(id) === chunk ? chunk : null;
    },
  }));

  function assign(infoOf) {
    const whole = reached(resolve(sourceOf(exports["."].default)), infoOf);
    const chunks = new Map([...whole].map((id) => [id, "core"]));
    for (const entry of entries) {
      const shared = [...reached(resolve(entry), infoOf)].filter((id) => whole.has(id));
      if (shared.length < SMALL_ENTRY) for (const id of shared) chunks.set(id, "base");
    }
    for (const id of reached(resolve(sourceOf(exports["./router"].default)), infoOf)) if (whole.has(id)) chunks.set(id, "light");
    for (const id of reached(resolve(sourceOf(bin.koine)), infoOf)) if (whole.has(id)) chunks.set(id, "start");
    return chunks;
  }

  function reached(id, infoOf, ids = new Set()) {
    const info = infoOf(id);
    if (!info || ids.has(id)) return ids;
    ids.add(id);
    for (const imported of info.importedIds) reached(imported, infoOf, ids);
    return ids;
  }
}
