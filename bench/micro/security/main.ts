import { type Conclusion, isConclusive } from "../../harness/conclude.js";
import {
  type BenchContext,
  type CommonOptions,
  closeCalls,
  type Measured,
  parseCommonOptions,
  resultOf,
  runDriver,
} from "../../harness/driver.js";
import type { Machine } from "../../harness/result.js";
import { concludeSecurity, TARGETS, TITLES } from "./ratios.js";
import { runSecurity } from "./run.js";

const HELP = `npm run bench:security -- [options]

Measures what security costs. Sealed records of 300 bytes and 64 KB against the bare cipher; an HTTP signature with its digest, made and
checked, against bare Ed25519 and SHA-256; adding a nonce to the replay guard in memory, SQLite and Redis. And what a session costs: a server that echoes every message of a WebSocket, on our listener with two observers, against
bare ws (twice); the same with sealed messages against bare ws and AES-GCM, and whole calls of protocols that sign or seal beside it. Text messages of 300 bytes and 64 KB, one at a time and eight in flight. Servers are processes of their own,
loaded by one process of bare ws, in interleaved rounds; ratios are of CPU time. Prints tables and, as last line, one JSON object.

  --quick        only the arms with a target, in fewer and shorter rounds; a minute and a half
  --rounds N     rounds (full: 20; quick: 12, or as many as fit); up to 20 times as many while a floor, measured twice, is not
                 known to be within 0.97 to 1.03 of itself
  --json FILE    write the whole result, every round, to FILE
  --no-build     measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything. A run whose second floor is not within 0.95 to 1.05 of the first is inconclusive.`;

const FULL = {
  rounds: 20,
  window: { rampMs: 20, windowMs: 60 },
  warmUpMs: 1_000,
  budgetMs: Number.POSITIVE_INFINITY,
} as const;
const QUICK = {
  rounds: 12,
  window: { rampMs: 10, windowMs: 30 },
  warmUpMs: 300,
  budgetMs: 90_000,
} as const;

async function measure({ quick, rounds }: CommonOptions, context: BenchContext): Promise<Measured> {
  const { budgetMs, ...plan } = quick ? QUICK : FULL;
  const rows = await runSecurity({ ...plan, ...context, quick, rounds, endAtMs: context.startedAtMs + budgetMs });
  const conclusion = concludeSecurity(rows);
  const mode = quick ? "quick" : "full";
  const notes = notesOf(context.machine, conclusion);
  const result = resultOf(context, { bench: "security", mode, rows, conclusion, wanted: TARGETS, notes });
  return { result, titles: TITLES };
}

function notesOf(machine: Machine, conclusion: Conclusion): readonly string[] {
  const notes: string[] = [];
  const again = conclusion.ratios["floor_vs_floor"];
  if (!isConclusive(again))
    notes.push(`A floor measured twice came out as ${again?.toFixed(3)} of itself, not within 0.95 to 1.05: nothing is decided.`);
  notes.push(...closeCalls(conclusion));
  if (machine.loadBefore > machine.cores / 2)
    notes.push(`The machine was busy before the run began (load ${machine.loadBefore.toFixed(1)} on ${machine.cores} cores).`);
  if (!machine.pinned) notes.push("Servers and load could not be pinned to different cores; expect more noise.");
  return notes;
}

await runDriver({
  name: "bench:security",
  help: HELP,
  parse: (argv) => parseCommonOptions(argv, { full: FULL.rounds, quick: QUICK.rounds }),
  measure,
});
