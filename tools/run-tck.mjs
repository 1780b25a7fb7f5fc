// Runs the official A2A compatibility kit (TCK) against test/tck/server.ts, alone or behind a gateway (--through), from a checkout that the user provides. Downloads
// only the Python packages that the kit lists, into an environment in the user's cache.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { environmentFolder, interpreterIn } from "./python-cache.mjs";

const USAGE = `usage: npm run tck -- --kit <folder> [--transport jsonrpc|http_json|grpc|all] [--version 1.0|0.3] [--through adopt|relay] [--python <command>]`;
const REPOSITORY = "https://github.com/a2aproject/a2a-tck.git";
const BRANCHES = { "1.0": "1.0-dev", 0.3: "0.3.x" };
/** A file that only the kit of this version has. */
const LANDMARKS = { "1.0": "tests/compatibility/conftest.py", 0.3: "tests/mandatory/jsonrpc/test_json_rpc_compliance.py" };
const MODES = ["adopt", "relay"];
const TRANSPORTS = ["jsonrpc", "http_json", "grpc"];
const PYTHONS = ["python3.13", "python3.12", "python3.11", "python3"];
const SERVER_START_MS = 30_000;
const KIT_LIMIT_MS = 15 * 60_000;

/** As in test/tck/server.ts. */
const SERVER_FLAGS = {
  card: { type: "string", default: "1.0" },
  push: { type: "boolean", default: false },
  "extended-card": { type: "boolean", default: false },
  "required-extension": { type: "boolean", default: false },
};

/** Some tests need a capability, others its absence: tests skipped with the first server run with the next. */
const SERVERS = {
  "1.0": [["--push", "--extended-card"], [], ["--required-extension"]],
  0.3: [["--push", "--card", "0.3"]],
};

class Problem extends Error {}

function readOptions() {
  const options = {
    kit: { type: "string" },
    transport: { type: "string" },
    version: { type: "string" },
    /** Put a gateway in this mode before the server. */
    through: { type: "string" },
    python: { type: "string" },
  };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (thrown) {
    throw new Problem(`${thrown.message}\n${USAGE}`);
  }
  const { kit, transport = "all", version = "1.0", through, python } = values;
  if (!Object.hasOwn(BRANCHES, version)) throw new Problem(`--version is 1.0 or 0.3, not ${version}\n${USAGE}`);
  if (transport !== "all" && !TRANSPORTS.includes(transport)) throw new Problem(`there is no transport ${transport}\n${USAGE}`);
  if (through !== undefined && !MODES.includes(through))
    throw new Problem(`--through is adopt or relay, not ${through}\n${USAGE}`);
  const hint = `get it with: git clone --branch ${BRANCHES[version]} ${REPOSITORY} <folder>`;
  if (kit === undefined) throw new Problem(`${USAGE}\nThe kit is not part of this repository; ${hint}`);
  const folder = resolve(kit);
  if (!existsSync(join(folder, "run_tck.py"))) throw new Problem(`${kit} is not a checkout of the kit; ${hint}`);
  if (!existsSync(join(folder, LANDMARKS[version]))) throw new Problem(`${kit} is not the kit for A2A ${version}; ${hint}`);
  return { kit: folder, transports: transport === "all" ? TRANSPORTS : [transport], version, through, python };
}

/** The first Python that can read the kit's list of packages. */
function findPython(wanted) {
  for (const python of wanted === undefined ? PYTHONS : [wanted]) {
    try {
      execFileSync(python, ["-c", "import tomllib, venv"], { stdio: "ignore" });
      return python;
    } catch {
      // Not there, or too old.
    }
  }
  throw new Problem(`${wanted ?? "no Python"} is usable: the kit needs Python 3.11 or later; set one with --python`);
}

const DEPENDENCIES = "import tomllib, sys; print('\\n'.join(tomllib.load(open(sys.argv[1], 'rb'))['project']['dependencies']))";

/** An environment with the kit's packages, made once for each list of them. */
function environment(kit, python) {
  const packages = execFileSync(python, ["-c", DEPENDENCIES, join(kit, "pyproject.toml")], { encoding: "utf8" });
  const folder = environmentFolder("tck", packages);
  const ready = join(folder, "ready");
  if (!existsSync(ready)) {
    console.log("Installing the kit's Python packages; this is done once and can take some minutes.");
    rmSync(folder, { recursive: true, force: true });
    execFileSync(python, ["-m", "venv", folder], { stdio: "inherit" });
    writeFileSync(join(folder, "packages.txt"), packages);
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", join(folder, "packages.txt")];
    execFileSync(interpreterIn(folder), install, { stdio: "inherit" });
    writeFileSync(ready, "");
  }
  return interpreterIn(folder);
}

/** Starts the server on a free port; resolves with its address once it prints it. */
function startServer(flags) {
  return start(["test/tck/server.ts", ...flags], (line) => line);
}

/** A gateway in front of the server, configured as the server is (docs/conformance.md). */
function startGateway(url, mode, flags, scratch) {
  const { values } = parseArgs({ args: flags, options: SERVER_FLAGS });
  const config = {
    listen: { port: 0 },
    ...(values["extended-card"] ? { auth: { loopback: "kit" } } : {}),
    push: values.push ? { allow: ["localhost"] } : false,
    settings: { a2a: { errorProfile: "1.0.0", cardForm: values.card, legacyGrpcAddress: "url" } },
    agents: [{ name: "tck", upstream: url, mode }],
  };
  const file = join(scratch, "koine.yaml");
  writeFileSync(file, JSON.stringify(config)); // YAML is a superset of JSON
  return start(["apps/cli/main.ts", "gateway", file, "-o", "json"], (line) => JSON.parse(line).url);
}

/** Starts a program that prints a line with its address. */
async function start(args, addressIn) {
  const child = spawn(process.execPath, ["--import", "tsx", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.once("exit", done));
  const timer = setTimeout(() => child.kill("SIGKILL"), SERVER_START_MS);
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([new Promise((done) => lines.once("line", done)), ended.then(() => undefined)]);
  clearTimeout(timer);
  if (line === undefined) throw new Problem("the server under test did not start");
  const url = addressIn(line);
  async function stop() {
    child.kill("SIGTERM");
    const impatient = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(impatient);
  }
  return { url, stop };
}

/** The command lines of the kit. In 0.3 a run tests one transport; a run with several compares them. */
function commandsFor(version, url, transports) {
  if (version === "1.0") return [["--sut-host", url, "--transport", transports.join(",")]];
  const names = transports.map((transport) => (transport === "http_json" ? "rest" : transport));
  const each = ["mandatory", "capabilities", "quality", "features"];
  const alone = names.flatMap((name) => each.map((category) => ["--category", category, "--transports", name]));
  const together = names.length > 1 ? [["--category", "transport-equivalence", "--transports", names.join(",")]] : [];
  return [...alone, ...together].map((command) => ["--sut-url", url, ...command]);
}

/** Runs the kit once and returns the outcome of each test. */
async function runKit({ kit, python, command, only, scratch, through }) {
  const record = join(scratch, `record-${process.hrtime.bigint()}.jsonl`);
  const log = [];
  const env = {
    ...process.env,
    PYTHONPATH: resolve("test/tck"),
    PYTHONDONTWRITEBYTECODE: "1",
    PYTEST_ADDOPTS: "-p record -p no:cacheprovider",
    KOINE_TCK_RECORD: record,
    ...(through === "adopt" ? { KOINE_TCK_SCENARIO: "metadata" } : {}),
    ...(only === undefined ? {} : { KOINE_TCK_ONLY: writeOnly(scratch, only) }),
  };
  const child = spawn(python, ["run_tck.py", ...command], { cwd: kit, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => log.push(chunk));
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGINT"); // the one signal on which the kit ends its own pytest
  }, KIT_LIMIT_MS);
  await new Promise((done) => child.once("close", done));
  clearTimeout(timer);
  if (late) throw new Problem(`the kit did not end within ${KIT_LIMIT_MS / 60_000} minutes`);
  const lines = existsSync(record) ? readFileSync(record, "utf8").trim().split("\n").filter(Boolean) : [];
  // Without records the kit itself failed; its output has the reason.
  if (lines.length === 0) throw new Problem(`the kit ran no test:\n${Buffer.concat(log).toString().slice(-4_000)}`);
  return lines.map((line) => JSON.parse(line));
}

function writeOnly(scratch, tests) {
  const file = join(scratch, "only.json");
  writeFileSync(file, JSON.stringify(tests));
  return file;
}

/** All runs against one server. A test that failed in any phase has failed. */
async function runServer(options, flags, only) {
  const { version, transports, through, scratch } = options;
  const upstream = await startServer(flags);
  const server = through === undefined ? upstream : await startGateway(upstream.url, through, flags, scratch);
  const results = new Map();
  try {
    for (const command of commandsFor(version, server.url, transports)) {
      for (const line of await runKit({ ...options, command, only })) {
        const key = keyOf(line);
        if (results.get(key)?.outcome !== "failed") results.set(key, line);
      }
    }
  } finally {
    await server.stop();
    if (server !== upstream) await upstream.stop();
  }
  const asked = [...results.values()].filter(({ transport }) => transport === "any" || transports.includes(transport));
  return asked.map((line) => withKnownReason(version, line));
}

function keyOf({ transport, test }) {
  return `${transport} ${test}`;
}

const KNOWN = JSON.parse(readFileSync(new URL("../test/tck/known-failures.json", import.meta.url), "utf8"));

/** Adds the listed reason to a known failure: a fault of the kit, or a design choice. */
function withKnownReason(version, line) {
  if (line.outcome !== "failed") return line;
  const places = [line.transport, "any"];
  const known = KNOWN.find((one) => one.version === version && one.test === line.test && places.includes(one.transport));
  return known === undefined ? line : { ...line, outcome: "known", why: known.why };
}

/** Runs the kit against the first server, and what it skipped there against the others. */
async function runServers(options) {
  const { version, transports } = options;
  const [first, ...others] = SERVERS[version];
  let results = await runServer(options, first, undefined);
  console.log(`A2A ${version}`);
  for (const transport of [...transports, "any"]) show(transport, having(results, "transport", transport));
  show("together", results);
  for (const [index, flags] of others.entries()) {
    const open = having(results, "outcome", "skipped").map(({ test }) => test);
    if (open.length === 0) break;
    const settled = new Map();
    for (const line of await runServer(options, flags, open)) if (line.outcome !== "skipped") settled.set(keyOf(line), line);
    results = results.map((line) => settled.get(keyOf(line)) ?? line);
    show(`and server ${index + 2}`, results);
  }
  return results;
}

function having(results, member, value) {
  return results.filter((line) => line[member] === value);
}

function show(title, results) {
  const count = (outcome) => having(results, "outcome", outcome).length;
  const more = [
    [count("known"), "failed as known"],
    [count("xfailed"), "expected to fail"],
  ].flatMap(([many, what]) => (many > 0 ? [`${many} ${what}, `] : []));
  const figures = `${count("passed")} passed, ${count("failed")} failed, ${more.join("")}${count("skipped")} skipped of ${results.length}`;
  console.log(`  ${title.padEnd(14)}${figures}`);
}

function explain(title, lines) {
  if (lines.length === 0) return;
  console.log(`\n${title}`);
  for (const { transport, test, why } of lines)
    console.log(`  ${transport} ${test}\n      ${why.trim().replaceAll("\n", "\n      ")}`);
}

async function main() {
  const options = readOptions();
  const python = environment(options.kit, findPython(options.python));
  const scratch = mkdtempSync(join(tmpdir(), "tck-"));
  try {
    const results = await runServers({ ...options, python, scratch });
    explain("Skipped:", having(results, "outcome", "skipped"));
    explain("Failed as known:", having(results, "outcome", "known"));
    explain("Failed:", having(results, "outcome", "failed"));
    process.exitCode = having(results, "outcome", "failed").length === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (thrown) {
  if (!(thrown instanceof Problem)) throw thrown;
  console.error(thrown.message);
  process.exitCode = 2;
}
