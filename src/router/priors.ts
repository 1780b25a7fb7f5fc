import { AgentError, isObject, type Maybe } from "../envelope/index.js";
import { featureRows } from "../protocols/candidates.js";
import type { Features } from "../protocols/features.js";
import { rowNamed } from "./forms/protocol-names.js";

/** The most protocols in one results file. */
export const RESULTS_PROTOCOLS = 100;

/** The benchmark result of one protocol. */
interface Measured {
  readonly protocol: string;
  /** The success rate, from 0 to 1. */
  readonly success: number;
  /** The median latency in microseconds; infinite if nothing succeeded. */
  readonly p50Us: number;
}

/**
 * The candidate ranked best, case-insensitive; unranked ones come last, in the given order. Called with feasible candidates
 * only, so a prior never outweighs a requirement.
 */
export function tieBreakWithPrior(candidates: readonly string[], ranking: readonly string[]): string {
  const ranks = ranking.map((name) => name.toLowerCase());
  const rankOf = (candidate: string): number => {
    const rank = ranks.indexOf(candidate.toLowerCase());
    return rank < 0 ? ranks.length : rank;
  };
  const [first, ...others] = candidates;
  if (first === undefined) throw new AgentError("invalid_message", "there is no candidate to choose", { field: "candidates" });
  return others.reduce((best, each) => (rankOf(each) < rankOf(best) ? each : best), first);
}

/**
 * The ranking given by benchmark results: by success rate, then median latency, then the order of the rows. Reads `{
 * "protocols": [{ "protocol", "success", "p50Us" }] }` and ignores other members.
 */
export function rankingFromResults(results: unknown, rows: readonly Features[] = featureRows()): readonly string[] {
  const list = isObject(results) ? results["protocols"] : undefined;
  if (!Array.isArray(list) || list.length === 0)
    throw malformed("protocols", "must be a list of what was measured for each protocol");
  if (list.length > RESULTS_PROTOCOLS) throw malformed("protocols", `has more than ${RESULTS_PROTOCOLS} entries`);
  const measured = list.map((entry, index) => readMeasured(entry, `protocols[${index}]`, rows));
  const twice = measured.find(({ protocol }, index) => measured.findIndex((each) => each.protocol === protocol) !== index);
  if (twice !== undefined) throw malformed("protocols", `has ${twice.protocol} twice`);
  const rowIndex = (protocol: string): number => rows.findIndex(({ name }) => name === protocol);
  return measured
    .toSorted((a, b) => b.success - a.success || compared(a.p50Us, b.p50Us) || rowIndex(a.protocol) - rowIndex(b.protocol))
    .map(({ protocol }) => protocol);
}

function readMeasured(entry: unknown, path: string, rows: readonly Features[]): Measured {
  if (!isObject(entry)) throw malformed(path, "must be an object");
  const { protocol: word, success, p50Us } = entry;
  const row: Maybe<Features> = typeof word === "string" ? rowNamed(word, rows) : undefined;
  if (row === undefined) throw malformed(`${path}.protocol`, `names none of ${rows.map(({ name }) => name).join(", ")}`);
  if (typeof success !== "number" || !(success >= 0 && success <= 1))
    throw malformed(`${path}.success`, "must be a share from 0 to 1");
  return { protocol: row.name, success, p50Us: readLatency(p50Us, success, `${path}.p50Us`) };
}

function readLatency(p50Us: unknown, success: number, path: string): number {
  if ((p50Us === undefined || p50Us === null) && success === 0) return Number.POSITIVE_INFINITY;
  if (typeof p50Us === "number" && Number.isFinite(p50Us) && p50Us >= 0) return p50Us;
  throw malformed(path, "must be a number of microseconds, zero or more");
}

/** Not a difference: that of two infinities is NaN. */
function compared(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function malformed(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `the results are malformed: ${field} ${problem}`, { field });
}
