// Runs unit and wire tests on other versions of Node than the installed one: `npm run test:nodes [-- VERSION…]`. All of them on versions
// that are named; on the newest one, without calculations that use nothing of Node; on the others, only what is nearest to Node
// (vitest.config.ts). Failed files run once more.
// The binaries come from npm and are kept in $XDG_CACHE_HOME/koine/node. Writes the sum of all runs to .cache/nodes.json.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runAgain } from "./run-again.mjs";

/** Pinned, so that a run can be repeated; the newest last. */
const VERSIONS = ["24.21.0", "26.10.0"];
/** A run that hangs is a failure, not a wait. */
const RUN_MS = 15 * 60_000;
const PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "koine", "node");

const wanted = process.argv.slice(2).filter((word) => /^\d/.test(word));
const total = { success: true, numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 };
for (const version of wanted.length > 0 ? wanted : VERSIONS) {
  const scope = version === VERSIONS.at(-1) ? "platform" : "edges";
  const report = runOn(version, nodeOf(version), wanted.length > 0 ? "all" : scope);
  total.success &&= report.success;
  for (const key of ["numPassedTests", "numFailedTests", "numPendingTests"]) total[key] += report[key];
  console.log(`Node ${version}: ${report.numPassedTests} passed, ${report.numFailedTests} failed`);
}
mkdirSync(".cache", { recursive: true });
writeFileSync(".cache/nodes.json", JSON.stringify(total));
process.exitCode = total.success ? 0 : 1;

function nodeOf(version) {
  const folder = join(CACHE, version);
  const program = join(folder, "node_modules", PACKAGE, "bin", "node");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const install = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `${PACKAGE}@${version}`];
  const { status } = spawnSync("npm", install, { stdio: "inherit" });
  if (status !== 0 || !existsSync(program)) throw new Error(`Node ${version} could not be installed as ${PACKAGE} from npm`);
  return program;
}

function runOn(version, program, scope) {
  const outputFile = `.cache/node-${version}.json`;
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "unit", "--project", "wire"];
  const path = `${dirname(program)}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH: path, KOINE_TEST_REPORT: outputFile, KOINE_TEST_SCOPE: scope };
  rmSync(outputFile, { force: true });
  const run = (more = []) =>
    spawnSync(program, [...args, ...more], { stdio: "inherit", timeout: RUN_MS, killSignal: "SIGKILL", env });
  run();
  runAgain(outputFile, run);
  if (existsSync(outputFile)) return JSON.parse(readFileSync(outputFile, "utf8"));
  return { success: false, numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
}
