import { type Conclusion, conclude, isSame, type RatioDefinition, ratiosOf, tooCloseToCall } from "../../harness/conclude.js";
import type { Titles } from "../../harness/report.js";
import type { Row } from "../../harness/result.js";
import { median } from "../../harness/statistics.js";
import { CRYPTO_CASES, CRYPTO_FLOORS, CRYPTO_RATIOS } from "./crypto-cases.js";
import { BATCH_CASES, BOUND_CASE, ECHO_CASES as SAGE_ECHO_CASES, SAGE_FLOORS, SAGE_RATIOS, WORK_CASES } from "./sage-cases.js";
import { SEALED_CASES, SEALED_FLOORS, SEALED_RATIOS } from "./sealed-cases.js";
import { ECHO_CASES, type EchoCase } from "./workload.js";

/** The published numbers of this benchmark and their targets. */

const SESSION_AT_LEAST = 0.8;

/** A floor measured twice: the second over the first. */
function floorFor({ key }: EchoCase): RatioDefinition {
  return { key: `${key}_ws_vs_ws`, section: key, of: "ws again", over: "ws", metric: "cpuUs" };
}

function ratiosFor({ key }: EchoCase): readonly RatioDefinition[] {
  return [
    // The floor's CPU time over ours: how many messages fit in the time that the floor needs for one.
    { key: `${key}_vs_ws`, section: key, of: "ws", over: "session", metric: "cpuUs", target: { atLeast: SESSION_AT_LEAST } },
    { key: `${key}_vs_ws_unread`, section: key, of: "ws unread", over: "session", metric: "cpuUs" },
    { key: `${key}_per_second_vs_ws`, section: key, of: "session", over: "ws", metric: "perSecond" },
  ];
}

const SESSION_FLOORS: readonly RatioDefinition[] = ECHO_CASES.map(floorFor);
export const FLOORS: readonly RatioDefinition[] = [...SESSION_FLOORS, ...SEALED_FLOORS, ...SAGE_FLOORS, ...CRYPTO_FLOORS];
export const RATIOS: readonly RatioDefinition[] = [
  ...ECHO_CASES.flatMap(ratiosFor),
  ...SEALED_RATIOS,
  ...SAGE_RATIOS,
  ...CRYPTO_RATIOS,
].map((ratio) => ({
  ...ratio,
  floor: FLOORS.find(({ section, metric }) => section === ratio.section && metric === ratio.metric)?.key,
}));

/** The keys that every run must decide: all with a target. */
export const TARGETS: readonly string[] = RATIOS.flatMap(({ key, target }) => (target === undefined ? [] : [key]));

export const TITLES: Titles = Object.fromEntries([
  ...ECHO_CASES.map(({ key, title }) => [key, `Session that echoes, ${title}`] as const),
  ...SEALED_CASES.map(({ key, title }) => [key, title] as const),
  ...SAGE_ECHO_CASES.map(({ key, title }) => [key, title] as const),
  ...[...BATCH_CASES, BOUND_CASE].map(({ key, title }) => [key, title] as const),
  ...WORK_CASES.map(({ key, title }) => [key, title] as const),
  ...CRYPTO_CASES.map(({ key, title }) => [key, title] as const),
]);

/**
 * All measurements. The floor that differs most from itself decides whether the machine was quiet enough: `ws_vs_ws` of the sessions,
 * `floor_vs_floor` of the whole run.
 */
export function concludeSecurity(rows: readonly Row[]): Conclusion {
  const conclusion = conclude([...FLOORS, ...RATIOS], rows);
  const floors = { floor_vs_floor: worstFloor(rows), ws_vs_ws: worstFloor(rows, SESSION_FLOORS) };
  return { ...conclusion, ratios: { ...floors, ...conclusion.ratios, ...ofBound(conclusion.ratios) } };
}

/** The speed-up of batches as a part of what two processes get from this machine. */
function ofBound(ratios: Conclusion["ratios"]): Readonly<Record<string, number>> {
  const bound = ratios["batch_verify_bound"];
  if (bound === undefined) return {};
  const parts = BATCH_CASES.flatMap(({ size }) => {
    const speedup = ratios[`batch_verify_${size}_speedup`];
    return speedup === undefined ? [] : [[`batch_verify_${size}_of_bound`, speedup / bound] as const];
  });
  return Object.fromEntries(parts);
}

/** Of the floors that were measured twice, the ratio furthest from 1; NaN if there are none. */
export function worstFloor(rows: readonly Row[], floors: readonly RatioDefinition[] = FLOORS): number {
  const ratios = floors.flatMap((floor) => {
    const perRound = ratiosOf(floor, rows);
    return perRound === undefined ? [] : [median(perRound)];
  });
  const [worst = Number.NaN] = ratios.toSorted((a, b) => Math.abs(Math.log(b)) - Math.abs(Math.log(a)));
  return worst;
}

/** Whether every floor that was measured twice is known well enough to be the same as itself, and no target is too close to call. */
export function isSettled(rows: readonly Row[]): boolean {
  return FLOORS.every((floor) => isSame(floor, rows) ?? true) && tooCloseToCall(conclude(RATIOS, rows)).length === 0;
}
