// Everything that must hold before a change lands, as many at once as there are cores. CI runs the same list and adds the tests.
// Prints one line per check and, at the end, how many passed; stops at nothing, so that one run shows all that is wrong.
import { exec } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));
/** Packed once: packing runs the build, and the others read what it writes. */
const TARBALL = `.cache/${name}-${version}.tgz`;
/** TypeScript 7, by its path: both versions have a `tsc`. Version 6 has the API that other tools need. */
const TSC = "node node_modules/typescript-7/bin/tsc";

const CHECKS = [
  ["build", "npm run --silent build && npm pack --ignore-scripts --silent --pack-destination .cache"],
  ["format and lint", "npx biome ci --colors=off --error-on-warnings ."],
  ["types", `${TSC} --noEmit`],
  ["types of the page", `${TSC} -p tsconfig.page.json`],
  ["type-aware lint", "npx oxlint --type-aware --deny-warnings src apps conformance bench"],
  ["layers and cycles", "npx depcruise src apps conformance bench"],
  ["no protocol named outside its folder", "node tools/check-bleed.mjs"],
  ["layout and budgets", "node tools/check-layout.mjs"],
  ["nothing unused", "npx knip"],
  ["contracts compiled", "node tools/compile-contracts.mjs --check"],
  ["package", `npx publint --strict ${TARBALL}`],
  ["types of every entry", `npx attw ${TARBALL} --profile esm-only`],
  ["each entry loads alone", "node tools/check-entries.mjs"],
  ["cost of a start", "node tools/check-start.mjs"],
  ["generated tables", "node --import tsx tools/generate-docs.mjs --check"],
  ["compatibility matrix", "node --import tsx tools/generate-matrix.mjs --check"],
  ["demo", "node dist/apps/cli/main.js demo --check --port 0"],
  ["router trained", "node --import tsx training/train.ts --check && node --import tsx training/train-head.ts --check"],
  ["snippets compile", "node tools/check-snippets.mjs"],
  ["examples", "node tools/run-examples.mjs"],
];

/** Run with nothing beside it: the rest needs what the build writes, and a start is measured. */
const ALONE = new Set(["build", "cost of a start"]);

const only = process.argv[2];
const wanted = CHECKS.filter(([name]) => only === undefined || name.includes(only));
let failed = 0;

function run([name, command]) {
  const began = Date.now();
  return new Promise((done) => {
    exec(command, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const seconds = ((Date.now() - began) / 1000).toFixed(1);
      console.log(`${error === null ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
      if (error !== null) {
        failed++;
        const lines = `${stdout}\n${stderr}`.trim().split("\n");
        console.log(
          lines
            .slice(-60)
            .map((line) => `       ${line}`)
            .join("\n"),
        );
      }
      done();
    });
  });
}

mkdirSync(".cache", { recursive: true });
for (const check of wanted.filter(([name]) => ALONE.has(name))) await run(check);
const waiting = wanted.filter(([name]) => !ALONE.has(name));
const lane = async () => {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) await run(check);
};
await Promise.all(Array.from({ length: availableParallelism() }, lane));
console.log(`checks: ${wanted.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
