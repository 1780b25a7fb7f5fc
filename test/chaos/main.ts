import { parseArgs } from "node:util";
import { redisAvailable } from "../redis-server.js";
import { chaosOfConnections } from "./connections.js";
import type { ChaosOutcome } from "./outcome.js";
import { chaosOfRunners } from "./runners.js";

/** `npm run test:chaos`. Exit codes: 0 all guarantees held; 1 one did not, or could not be tested; 2 usage. */

const HELP = `npm run test:chaos -- [options]

Replicas on one Redis, killed with SIGKILL and frozen with SIGSTOP while they work. Two runs:
  connections   the replicas that serve streams are killed, one per second: every stream ends complete and in order
  runners       the replicas that run the work are killed or frozen: every task reaches exactly one end, in time

  --seed N       the same seed makes the same choices (default: today's)
  --seconds N    how long the trouble lasts (default 30)
  --streams N    streams, and tasks (default 200)
  --short        6 seconds, 60 streams: what CI runs
  --only NAME    connections or runners
  --help`;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seconds: { type: "string" },
    streams: { type: "string" },
    short: { type: "boolean", default: false },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function whole(text: string | undefined, fallback: number, name: string): number {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  process.stderr.write(`--${name} takes a whole number\n\n${HELP}\n`);
  process.exit(2);
}

function show({ name, figures, problems }: ChaosOutcome): void {
  const figureTexts = Object.entries(figures).map(([key, value]) => `${value} ${key}`);
  process.stdout.write(`${problems.length === 0 ? "kept  " : "BROKEN"} ${name}: ${figureTexts.join(", ")}\n`);
  for (const problem of problems.slice(0, 20)) process.stdout.write(`  ${problem}\n`);
  if (problems.length > 20) process.stdout.write(`  and ${problems.length - 20} more\n`);
}

if (values.help) {
  process.stdout.write(`${HELP}\n`);
} else if (!(await redisAvailable())) {
  process.stderr.write("test:chaos needs redis-server on this machine\n");
  process.exitCode = 1;
} else {
  const options = {
    seed: whole(values.seed, Math.floor(Date.now() / 86_400_000), "seed"),
    seconds: whole(values.seconds, values.short ? 6 : 30, "seconds"),
    streams: whole(values.streams, values.short ? 60 : 200, "streams"),
  };
  process.stdout.write(`seed ${options.seed}, ${options.seconds} seconds, ${options.streams} streams\n`);
  const outcomes: ChaosOutcome[] = [];
  for (const run of [chaosOfConnections, chaosOfRunners]) {
    if (values.only !== undefined && !run.name.toLowerCase().endsWith(values.only)) continue;
    outcomes.push(await run(options));
    show(outcomes[outcomes.length - 1] as ChaosOutcome); // just pushed
  }
  const broken = outcomes.filter(({ problems }) => problems.length > 0).length;
  process.stdout.write(`chaos: ${outcomes.length - broken} passed, ${broken} failed\n`);
  process.exitCode = broken === 0 ? 0 : 1;
}
