// Measures what a start costs as CPU time relative to an empty Node process: `import "koine"`, `koine --help`, `koine send --help`.
// Interleaved rounds, the least of each: other load on the machine adds time and never takes any away.
import { spawnSync } from "node:child_process";

const ROUNDS = 7;
const MOST = { "import koine": 9, "koine --help": 2.5, "koine send --help": 3 };
const CPU = `process.on("exit", () => { const { user, system } = process.cpuUsage(); process.stderr.write("\\ncpu " + (user + system)); });`;
const ARMS = {
  empty: ["--input-type=module", "-e", CPU],
  "import koine": ["--input-type=module", "-e", `${CPU} await import("koine");`],
  "koine --help": ["--import", `data:text/javascript,${encodeURIComponent(CPU)}`, "dist/apps/cli/main.js", "--help"],
  "koine send --help": ["--import", `data:text/javascript,${encodeURIComponent(CPU)}`, "dist/apps/cli/main.js", "send", "--help"],
};

const least = {};
for (let round = 0; round < ROUNDS; round++)
  for (const [name, args] of Object.entries(ARMS)) {
    const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, Number(/cpu (\d+)$/.exec(stderr)?.[1] ?? Number.NaN) / 1_000);
  }
let failed = false;
for (const [name, most] of Object.entries(MOST)) {
  const ratio = least[name] / least.empty;
  failed ||= !(ratio <= most);
  console.log(
    `${name}: ${least[name].toFixed(0)} ms, ${ratio.toFixed(2)} of an empty Node (${least.empty.toFixed(0)} ms); at most ${most}`,
  );
}
process.exit(failed ? 1 : 0);
