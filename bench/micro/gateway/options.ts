import { parseArgs } from "node:util";
import { COMMON_OPTIONS, type CommonOptions, commonOptions } from "../../harness/driver.js";
import { ALL_PAIRS, FEW_PAIRS, type Pair, parsePairs } from "./pairs.js";
import { WIRES } from "./wires/all.js";

export interface Options extends CommonOptions {
  readonly mode: "quick" | "full";
  readonly pairs: readonly Pair[];
}

const ROUNDS = 30;
const QUICK_ROUNDS = 20;
/** Enough for an interval. */
const ALL_ROUNDS = 12;

export const HELP = `npm run bench:gateway -- [options]

Measures the cost of a gateway: a caller that speaks one protocol, an agent written by hand that speaks another. Arms, in interleaved rounds, each in its own process: the agent called directly, a bare proxy that pipes both
ways (twice), Koine in relay, Koine adopting tasks in memory, and in SQLite. Prints tables and, as last line, one JSON object.

  --quick        three pairs, without SQLite; about four minutes
  --all          every ordered pair; about 25 minutes. Default: three pairs
  --pairs LIST   front:behind,front:behind of ${WIRES.map(({ id }) => id).join(" ")}
  --rounds N     least rounds of each section (${ROUNDS}; all: ${ALL_ROUNDS}; quick: ${QUICK_ROUNDS})
  --json FILE    write the whole result, every round, to FILE
  --node PATH    run the measured processes on another Node
  --no-build     measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything. CPU time per call decides; rounds are added until the 95 % interval of the proxy
against itself is within 0.97 to 1.03, in each section of each pair, or the time is up and the targets of that section are undecided.
Callers with gRPC need h2load (Debian's nghttp2-client).`;

/** Undefined for `--help`. Throws an Error with a message for the user on invalid options. */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...COMMON_OPTIONS,
      all: { type: "boolean", default: false },
      pairs: { type: "string" },
    },
  });
  if (values.help) return undefined;
  if (values.all && (values.quick || values.pairs !== undefined)) throw new Error("--all goes with neither --quick nor --pairs");
  return {
    ...commonOptions(values, { full: values.all ? ALL_ROUNDS : ROUNDS, quick: QUICK_ROUNDS }),
    mode: values.quick ? "quick" : "full",
    pairs: values.pairs === undefined ? (values.all ? ALL_PAIRS : FEW_PAIRS) : parsePairs(values.pairs),
  };
}
