import { parseArgs } from "node:util";
import { buildIfStale } from "../../tools/build-if-stale.js";
import { Soak } from "./soak.js";

/** `npm run test:soak`. Exit codes: 0 everything held; 1 something did not; 2 usage. */

const HELP = `npm run test:soak -- [options]

A gateway in mode adopt with one upstream for each registered protocol, called over every protocol, for a long time. Upstreams are killed and
come back, the configuration is reloaded, callers leave their streams and come back for the result. It holds if
  no call failed that did not meet a killed upstream,
  no answer had a piece too few, too many or out of order,
  the memory of the gateway at the end is that of the beginning, and has no certain slope in the second half.

  --minutes N    how long (default 120)
  --callers N    concurrent calls (default 8)
  --seed N       the same seed makes the same choices (default: today's)
  --help`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    callers: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function positive(text: string | undefined, fallback: number, name: string): number {
  const value = text === undefined ? fallback : Number(text);
  if (value > 0) return value;
  process.stderr.write(`--${name} takes a number\n\n${HELP}\n`);
  process.exit(2);
}

if (values.help) process.stdout.write(`${HELP}\n`);
else {
  const options = {
    minutes: positive(values.minutes, 120, "minutes"),
    callers: positive(values.callers, 8, "callers"),
    seed: positive(values.seed, Math.floor(Date.now() / 86_400_000), "seed"),
  };
  process.stdout.write(`seed ${options.seed}, ${options.minutes} minutes, ${options.callers} callers\n`);
  buildIfStale(process.cwd());
  const { lines, problems } = await new Soak(options, (line) => void process.stdout.write(`${line}\n`)).run();
  for (const line of lines) process.stdout.write(`${line}\n`);
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
  process.stdout.write(problems.length === 0 ? "soak: held\n" : `soak: ${problems.length} problems\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
