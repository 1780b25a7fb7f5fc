// Everything that must hold before a change lands, cheapest first. CI runs the same list and adds the tests.
// Prints one line per check and, at the end, how many passed; stops at nothing, so that one run shows all that is wrong.
import { spawnSync } from "node:child_process";

const CHECKS = [
  ["build", "npm run --silent build"],
  ["format and lint", "npx biome ci --error-on-warnings ."],
  ["types", "npx tsc --noEmit"],
  ["types of the page", "npx tsc -p tsconfig.page.json"],
  ["type-aware lint", "npx oxlint --type-aware --deny-warnings src apps conformance bench"],
  ["layers and cycles", "npx depcruise src apps conformance bench"],
  ["no protocol named outside its folder", "node tools/check-bleed.mjs"],
  ["layout and budgets", "node tools/check-layout.mjs"],
  ["nothing unused", "npx knip"],
  ["package", "npx publint --strict"],
  ["types of every entry", "npx attw --pack . --profile esm-only"],
  ["each entry loads alone", "node tools/check-entries.mjs"],
  ["cost of a start", "node tools/check-start.mjs"],
  ["generated tables", "node tools/generate-docs.mjs --check"],
  ["compatibility matrix", "node --import tsx tools/generate-matrix.mjs --check"],
  ["demo", "node dist/apps/cli/main.js demo --check --port 0"],
  ["router trained", "node --import tsx training/train.ts --check && node --import tsx training/train-head.ts --check"],
  ["snippets compile", "node tools/check-snippets.mjs"],
  ["examples", "node tools/run-examples.mjs"],
];

const only = process.argv[2];
let failed = 0;
for (const [name, command] of CHECKS.filter(([name]) => only === undefined || name.includes(only))) {
  const began = Date.now();
  const { status, stdout, stderr } = spawnSync(command, { shell: true, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (status === 0) continue;
  failed++;
  console.log(
    `${stdout}\n${stderr}`
      .trim()
      .split("\n")
      .slice(-60)
      .map((line) => `       ${line}`)
      .join("\n"),
  );
}
const total = CHECKS.filter(([name]) => only === undefined || name.includes(only)).length;
console.log(`checks: ${total - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
