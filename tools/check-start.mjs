// Measures what a start costs as CPU time relative to an empty Node process: `import "koine"`, `koine --help`, `koine send --help`;
// what `import "koine/router"` adds to one in milliseconds; and counts the files that the two imports read.
// Interleaved rounds, the least of each: other load on the machine adds time and never takes any away, so more rounds are taken until
// the limits hold or it is plain that they do not.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROUNDS = { least: 5, most: 40 };
const MOST = { "import koine": 2.5, "koine --help": 2.5, "koine send --help": 2.5 };
/** CPU milliseconds over an empty Node: an agent that asks for a protocol pays for no protocol. */
const MOST_ADDED = { "import koine/router": 60 };
const MOST_FILES = { "dist/src/index.js": 12, "dist/src/router/index.js": 12 };
const CPU = `process.on("exit", () => { const { user, system } = process.cpuUsage(); process.stderr.write("\\ncpu " + (user + system)); });`;
const ARMS = {
  empty: ["--input-type=module", "-e", CPU],
  "import koine": ["--input-type=module", "-e", `${CPU} await import("koine");`],
  "import koine/router": ["--input-type=module", "-e", `${CPU} await import("koine/router");`],
  "koine --help": ["--import", `data:text/javascript,${encodeURIComponent(CPU)}`, "dist/apps/cli/main.js", "--help"],
  "koine send --help": ["--import", `data:text/javascript,${encodeURIComponent(CPU)}`, "dist/apps/cli/main.js", "send", "--help"],
};

const least = {};
for (let round = 0; round < ROUNDS.least || (round < ROUNDS.most && !holds()); round++)
  for (const [name, args] of Object.entries(ARMS)) {
    const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, Number(/cpu (\d+)$/.exec(stderr)?.[1] ?? Number.NaN) / 1_000);
  }
let failed = !holds();
for (const [name, most] of Object.entries(MOST)) {
  const ratio = least[name] / least.empty;
  console.log(
    `${name}: ${least[name].toFixed(0)} ms, ${ratio.toFixed(2)} of an empty Node (${least.empty.toFixed(0)} ms); at most ${most}`,
  );
}
for (const [name, most] of Object.entries(MOST_ADDED))
  console.log(`${name}: ${(least[name] - least.empty).toFixed(0)} ms over an empty Node; at most ${most}`);
for (const [entry, most] of Object.entries(MOST_FILES)) {
  const { files, packages } = filesOf(entry);
  failed ||= files.size > most || packages.size > 0;
  console.log(`${entry}: ${files.size} files; at most ${most}; packages: ${[...packages].join(", ") || "none"}; none allowed`);
}
process.exit(failed ? 1 : 0);

function holds() {
  const added = Object.entries(MOST_ADDED).every(([name, most]) => least[name] - least.empty <= most);
  return added && Object.entries(MOST).every(([name, most]) => least[name] <= most * least.empty);
}

/** What a built module reads before it runs. */
function filesOf(entry, files = new Set(), packages = new Set()) {
  files.add(entry);
  for (const [, path] of readFileSync(entry, "utf8").matchAll(/^(?:import|export|\}) ?(?:[^;"]*? ?from )?"([^"]+)";$/gm)) {
    const file = join(dirname(entry), path);
    if (!path.startsWith(".")) path.startsWith("node:") || packages.add(path);
    else if (!files.has(file)) filesOf(file, files, packages);
  }
  return { files, packages };
}
