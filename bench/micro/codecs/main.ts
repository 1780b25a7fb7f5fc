import { parseArgs } from "node:util";
import {
  type BenchContext,
  COMMON_OPTIONS,
  type CommonOptions,
  closeCalls,
  commonOptions,
  type Measured,
  resultOf,
  runDriver,
} from "../../harness/driver.js";
import { concludeCodecs, judgedKeys, titlesFor } from "./ratios.js";
import { runCodecs } from "./run.js";

const HELP = `npm run bench:codecs -- [options]

Measures what every registered protocol costs without a socket. First its codec alone: a message to its text and back,
against JSON.parse and JSON.stringify of the same text. Then both halves around it: the client half writes a message, the
server half reads it, and the answer goes back. Messages of 300 bytes, 1 KB and 100 KB; then messages to each of 4, 32, 256
and 1,024 agents in turn, for which a codec must not take longer: only the address differs. Of a protocol between identities only the codec
is measured, without a target for its time: a message contains what its author signs. Each protocol has a process of its own, its arms are interleaved, and times are CPU time. Prints a table and, as last line, one JSON object.

  --quick           only 300 bytes, and fewer rounds; under 50 seconds
  --rounds N        rounds of each section (full: 20; quick: 10, or as many as fit)
  --protocols LIST  only these, by their ids
  --json FILE       write the whole result, every round, to FILE
  --node PATH       run the measured processes on another Node
  --no-build        measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything. A run whose second floor is not within 0.95 to 1.05 of the first is inconclusive.`;

const FULL = { rounds: 20, sizes: ["small", "medium", "large"], sliceMs: 50, warmUpMs: 400, budgetMs: Infinity } as const;
const QUICK = { rounds: 10, sizes: ["small"], sliceMs: 30, warmUpMs: 200, budgetMs: 44_000 } as const;

interface Options extends CommonOptions {
  /** Only these; all if empty. */
  readonly protocols: readonly string[];
}

async function measure({ quick, rounds, protocols: only }: Options, context: BenchContext): Promise<Measured> {
  const { budgetMs, ...plan } = quick ? QUICK : FULL;
  const endAtMs = context.startedAtMs + budgetMs;
  const { found, rows } = await runCodecs({ ...plan, ...context, rounds, only, endAtMs });
  const ids = found.map(({ id }) => id);
  const wanted = judgedKeys(found.filter(({ hasCodec }) => hasCodec));
  const conclusion = concludeCodecs(found, rows);
  const mode = quick ? "quick" : "full";
  const result = resultOf(context, { bench: "codecs", mode, rows, conclusion, wanted, notes: closeCalls(conclusion) });
  return { result, titles: titlesFor(ids) };
}

function parse(argv: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: { ...COMMON_OPTIONS, protocols: { type: "string", default: "" } },
  });
  if (values.help) return undefined;
  const protocols = values.protocols.split(",").filter((id) => id !== "");
  return { ...commonOptions(values, { full: FULL.rounds, quick: QUICK.rounds }), protocols };
}

await runDriver({ name: "bench:codecs", help: HELP, parse, measure });
