// Runs every example, one after another, each within a time limit. They import the built package, so build first.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

const LIMIT_MS = 60_000;
const wanted = process.argv.slice(2);

if (!existsSync("dist/src/index.js")) {
  console.error("The examples import the built package. Run `npm run build` first.");
  process.exit(2);
}

const names = readdirSync("examples", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(`examples/${entry.name}/main.ts`))
  .map(({ name }) => name)
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();

/** Exit code and output of one example; a run that takes too long is killed. */
function run(name) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", `examples/${name}/main.ts`], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const timer = setTimeout(() => {
      output += `\nkilled after ${LIMIT_MS / 1000} s`;
      child.kill("SIGKILL");
    }, LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ ok: code === 0, output });
    });
  });
}

let failed = 0;
for (const name of names) {
  const start = performance.now();
  const { ok, output } = await run(name);
  console.log(`${ok ? "pass" : "FAIL"}  ${name}  ${Math.round(performance.now() - start)} ms`);
  if (!ok) {
    failed++;
    console.log(output.replace(/^/gm, "    "));
  }
}
if (names.length === 0) {
  console.error("no example has such a name");
  failed++;
}
process.exitCode = failed === 0 ? 0 : 1;
