// Builds the Python environments of the interop tests, one per version of an official library, each from a list of exact
// pins. An environment is built once and reused by every clone until its list, or the version of Python, changes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentFolder, interpreterIn } from "./python-cache.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const TESTS = join(ROOT, "test", "interop");
/** Each has a name, which is part of the name of its list, and a line of Python that loads the library. */
const ENVIRONMENTS = JSON.parse(readFileSync(join(TESTS, "environments.json"), "utf8"));
/** Exit code: no Python to test with. */
const NO_PYTHON = 3;
const INSTALL_MS = 600_000;

function run(command, args, options = {}) {
  return spawnSync(command, args, { encoding: "utf8", ...options });
}

/** Python 3.11 or later with venv and ensurepip, which some systems package separately; otherwise what is missing. */
function findPython() {
  const command = process.platform === "win32" ? "python" : "python3";
  const result = run(command, ["-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]);
  if (result.error !== undefined) return { missing: `${command} was not found` };
  if (result.status !== 0)
    return { missing: `${command} cannot create virtual environments: ${result.stderr.trim().split("\n").pop()}` };
  const version = result.stdout.trim();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 3 || minor < 11) return { missing: `${command} is ${version}; 3.11 or later is needed` };
  return { command, version };
}

function build({ name, check }, python) {
  const requirements = join(TESTS, `requirements-${name}.txt`);
  const folder = environmentFolder(name, readFileSync(requirements, "utf8"));
  const stamp = join(folder, "built-with");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === python.version) return;
  console.log(`interop: installing the Python library ${name} into ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  must(run(python.command, ["-m", "venv", folder]), "the virtual environment could not be created");
  // The list is complete: no other package may be installed.
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", requirements];
  must(run(interpreterIn(folder), install, { timeout: INSTALL_MS }), "the packages could not be installed");
  // Runs in the folder of the scripts, because one of them makes its library loadable.
  must(run(interpreterIn(folder), ["-B", "-c", check], { cwd: join(TESTS, "python") }), "the library cannot be loaded");
  // Written last and in one step: a build that was interrupted, or that another clone is still at, has no stamp.
  writeFileSync(`${stamp}.new`, python.version);
  renameSync(`${stamp}.new`, stamp);
}

function must(result, problem) {
  if (result.status === 0) return;
  console.error(`interop: ${problem}\n${result.stderr ?? ""}${result.error?.message ?? ""}`);
  process.exit(1);
}

const python = findPython();
if (python.missing !== undefined) {
  console.error(`interop: cannot run the tests with the official Python libraries: ${python.missing}`);
  process.exit(process.env.CI === "true" ? 1 : NO_PYTHON);
}
for (const environment of ENVIRONMENTS) build(environment, python);
