import { parseArgs } from "node:util";
import { type Conclusion, isConclusive } from "../../harness/conclude.js";
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
import type { Machine, Row } from "../../harness/result.js";
import { median } from "../../harness/statistics.js";
import { concludeSecurity, TARGETS, TITLES } from "./ratios.js";
import { GROUP_NAMES, runSecurity } from "./run.js";
import { CLAIM, ECHO_CASES } from "./sage-cases.js";

const HELP = `npm run bench:security -- [options]

Measures what security costs. Sealed records of 300 bytes and 64 KB against the bare cipher; an HTTP signature with its digest, made and
checked, against bare Ed25519 and SHA-256; adding a nonce to the replay guard in memory, SQLite and Redis. And what a session costs: a server that echoes every message of a WebSocket, on our listener with two observers, against
bare ws (twice); the same with sealed messages against bare ws and AES-GCM, and whole calls of protocols that sign or seal beside it. A session of
SAGE (HMAC and ChaCha20-Poly1305) in an HTTP echo against the same primitives called bare; a batch of signed messages, verified in one thread and in
several, by wall time; in full mode its handshakes, and resolving a DID from the embedded
registry and a local chain, with and without the cache. Text messages of 300 bytes and 64 KB, one at a time and eight in flight. Servers are processes of their own,
loaded by one process of bare ws, in interleaved rounds; ratios are of CPU time. Prints tables and, as last line, one JSON object.

  --quick        only the arms with a target, in fewer and shorter rounds; a minute and a half, or longer if the machine is slow
  --rounds N     rounds (full: 20; quick: 12); up to 20 times as many, in a quick run as many as fit, while a floor, measured twice, is
                 not known to be within 0.97 to 1.03 of itself, or a target is within the interval of its ratio
  --group NAME   only one of ${GROUP_NAMES.slice(0, 5).join(", ")},
                 ${GROUP_NAMES.slice(5).join(", ")}
  --json FILE    write the whole result, every round, to FILE
  --node PATH    run the measured processes on another Node
  --no-build     measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything. A run with a second floor that is not within 0.95 to 1.05 of the first is inconclusive as a whole.
Each target is judged by the floor of its own section: "not decided" if that one differs from itself, or the target is within the interval.`;

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

interface Options extends CommonOptions {
  readonly group: string | undefined;
}

function parseOptions(argv: readonly string[]): Options | undefined {
  const { values } = parseArgs({ args: [...argv], options: { ...COMMON_OPTIONS, group: { type: "string" } } });
  if (values.help) return undefined;
  const { group } = values;
  if (group !== undefined && !GROUP_NAMES.includes(group))
    throw new Error(`--group takes one of ${GROUP_NAMES.join(", ")}, not ${group}`);
  return { ...commonOptions(values, { full: FULL.rounds, quick: QUICK.rounds }), group };
}

async function measure({ quick, rounds, group }: Options, context: BenchContext): Promise<Measured> {
  const { budgetMs, ...plan } = quick ? QUICK : FULL;
  const rows = await runSecurity({ ...plan, ...context, quick, rounds, group, endAtMs: context.startedAtMs + budgetMs });
  const conclusion = concludeSecurity(rows);
  const mode = quick ? "quick" : "full";
  const notes = [...claimNotes(rows), ...notesOf(context.machine, conclusion)];
  const result = resultOf(context, { bench: "security", mode, rows, conclusion, wanted: TARGETS, notes });
  return { result, titles: TITLES };
}

/** The latencies that the SAGE design states, beside those of this run. */
function claimNotes(rows: readonly Row[]): readonly string[] {
  const [{ key }] = ECHO_CASES;
  const p50Ms = (section: string, arm: string): string => {
    const series = rows.find((row) => row.section === section && row.arm === arm)?.series ?? [];
    const values = series.flatMap(({ p50Us }) => (p50Us === undefined ? [] : [p50Us]));
    return values.length > 0 ? `${(median(values) / 1_000).toFixed(2)} ms` : "not measured";
  };
  return [
    `SAGE states ${CLAIM.plain} for a plain message and ${CLAIM.secured} for a secured one. Here, by HTTP on this machine, 300 bytes: ` +
      `plain ${p50Ms(key, "plain http")}, sealed and signed in a session ${p50Ms(key, "session")}; once for a session, without the network: ` +
      `handshake ${p50Ms("sage_handshake", "hpke")} (four phases ${p50Ms("sage_handshake", "four-phase")}), DID from a local chain ` +
      `${p50Ms("sage_resolution", "chain, not cached")}.`,
  ];
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
  parse: parseOptions,
  measure,
});
