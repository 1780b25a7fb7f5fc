// Python environments for the interop tests, one per version of an official library, each from a list of exact pins. An
// environment is built once and kept under .cache/interop until its list, or Python itself, changes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const TESTS = join(ROOT, "test", "interop");
/** Each with its name, which is also in the name of its list, and a line of Python that loads it. */
const ENVIRONMENTS = JSON.parse(readFileSync(join(TESTS, "environments.json"), "utf8"));
/** Tells whoever called us that there is nothing to test with, which is no fault of the code. */
const NO_PYTHON = 3;
const INSTALL_MS = 600_000;

const bin = process.platform === "win32" ? "Scripts" : "bin";

function run(command, args, options = {}) {
  return spawnSync(command, args, { encoding: "utf8", ...options });
}

/** Python 3.11 or later with venv and ensurepip, which some systems package apart; else a sentence that says what is missing. */
function findPython() {
  const command = process.platform === "win32" ? "python" : "python3";
  const asked = run(command, ["-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]);
  if (asked.error !== undefined) return { missing: `${command} was not found` };
  if (asked.status !== 0)
    return { missing: `${command} cannot make virtual environments: ${asked.stderr.trim().split("\n").pop()}` };
  const version = asked.stdout.trim();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 3 || minor < 11) return { missing: `${command} is ${version}; 3.11 or later is needed` };
  return { command, version };
}

function build({ name, check }, python) {
  const requirements = join(TESTS, `requirements-${name}.txt`);
  const folder = join(ROOT, ".cache", "interop", name);
  const stamp = join(folder, "built-from");
  const wanted = createHash("sha256").update(readFileSync(requirements)).update(python.version).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.log(`interop: installing the Python library of ${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  must(run(python.command, ["-m", "venv", folder]), "the virtual environment could not be made");
  // The list is complete, so nothing else may come in with it.
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", requirements];
  must(run(join(folder, bin, "python"), install, { timeout: INSTALL_MS }), "the packages could not be installed");
  // Where our scripts are, because one of them makes its library loadable.
  must(run(join(folder, bin, "python"), ["-B", "-c", check], { cwd: join(TESTS, "python") }), "the library cannot be loaded");
  writeFileSync(stamp, wanted);
}

function must(result, complaint) {
  if (result.status === 0) return;
  console.error(`interop: ${complaint}\n${result.stderr ?? ""}${result.error?.message ?? ""}`);
  process.exit(1);
}

const python = findPython();
if (python.missing !== undefined) {
  console.error(`interop: the tests with the official Python libraries cannot run: ${python.missing}`);
  process.exit(process.env.CI === "true" ? 1 : NO_PYTHON);
}
for (const environment of ENVIRONMENTS) build(environment, python);
