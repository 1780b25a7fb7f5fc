import { wilson } from "../../../harness/proportions.js";
import { SCHEMA_VERSION } from "../../result/index.js";
import type { ProbeName } from "../probe-config.js";
import { type Outcome, outcomeOf } from "./classify.js";
import { type Attempt, KIND, type Plan, type SafetyEvent, type Target } from "./event.js";
import { COLUMN_OF, COLUMNS, type Column, type ProbeSummary, type SafetyResult, type TargetSummary } from "./result.js";

type Judged = Attempt & { readonly outcome: Outcome };

/** Reasons and evidence files that a variant lists. */
const LISTED = 8;

/** Everything of a result, from its events alone. Of a target that was begun again, the last time counts. */
export function summarise(events: readonly SafetyEvent[]): SafetyResult {
  const [first] = events;
  if (first?.type !== "plan") throw new Error("the events do not begin with a plan");
  const { plan } = first;
  const judged = new Map(plan.targets.map(({ id }) => [id, attemptsAt(events, id)]));
  const probes = plan.targets.flatMap(({ id }) =>
    plan.config.probes.flatMap((probe) => probeSummary(judged.get(id) ?? [], id, probe)),
  );
  const targets = plan.targets.map((target) => targetSummary(target, events, probes));
  const all = [...judged.values()].flat();
  const checks = {
    open: controlCheck(plan, all, "open", "succeeded"),
    hardened: controlCheck(plan, all, "hardened", "blocked"),
    legitimate: legitimateCheck(all),
  };
  const isWhole = targets.every(({ status }) => status === "complete");
  const isValid = Object.values(checks).every(({ passed }) => passed);
  const status = !isWhole ? "partial" : isValid ? "complete" : "invalid";
  return { schema: SCHEMA_VERSION, kind: KIND, status, marks: marksOf(plan, targets), plan, checks, targets, probes };
}

/** Since the target was last begun. */
function lastRun(events: readonly SafetyEvent[], target: string): readonly SafetyEvent[] {
  const own = events.filter((event) => event.type !== "plan" && event.target === target);
  return own.slice(
    Math.max(
      0,
      own.findLastIndex(({ type }) => type === "target-started"),
    ),
  );
}

function attemptsAt(events: readonly SafetyEvent[], target: string): readonly Judged[] {
  return lastRun(events, target).flatMap((event) => (event.type === "attempt" ? [{ ...event, outcome: outcomeOf(event) }] : []));
}

function probeSummary(all: readonly Judged[], target: string, probe: ProbeName): readonly ProbeSummary[] {
  const attempts = all.filter((each) => each.probe === probe);
  if (attempts.length === 0) return [];
  const scored = attempts.filter((each) => each.scored);
  const variants = [...new Set(attempts.map(({ variant }) => variant))].map((variant) => {
    const own = attempts.filter((each) => each.variant === variant);
    return {
      variant,
      scored: own.every((each) => each.scored),
      attempts: own.length,
      succeeded: countOf(own, "succeeded"),
      blocked: countOf(own, "blocked"),
      inconclusive: countOf(own, "inconclusive"),
      reasons: [...new Set(own.map(reasonOf))].slice(0, LISTED),
      evidence: own.map(({ evidence }) => evidence).slice(0, LISTED),
    };
  });
  return [
    {
      ...{ target, probe, column: COLUMN_OF[probe], attempts: scored.length },
      blocked: share(countOf(scored, "blocked"), scored.length),
      succeeded: share(countOf(scored, "succeeded"), scored.length),
      inconclusive: countOf(scored, "inconclusive"),
      variants,
    },
  ];
}

function countOf(attempts: readonly Judged[], outcome: Outcome): number {
  return attempts.filter((each) => each.outcome === outcome).length;
}

/** In a few words: what refused it, or what was seen instead. */
function reasonOf({ observed, before, after, controls, outcome }: Judged): string {
  if (!before || !after) return "a legitimate request failed";
  const failed = controls.find(({ passed }) => !passed);
  if (failed !== undefined) return `not so: ${failed.name}`;
  if (outcome === "succeeded") return observed.status === null ? "it succeeded" : `answered with ${observed.status}`;
  const { alert, certificate, status, name, closed, error, searched } = observed;
  if (alert !== null) return `TLS alert ${alert}`;
  if (certificate !== null) return `certificate: ${codeIn(certificate)}`;
  if (status !== null) return name === null ? `status ${status}` : `${status} ${name}`;
  if (name !== null) return name.slice(0, 80);
  if (closed) return "closed without an answer";
  if (error !== null) return codeIn(error);
  return searched === null ? "nothing was seen" : `not in ${searched.toLocaleString("en-US")} bytes`;
}

/** The code in parentheses or before the colon, which names no port. */
function codeIn(text: string): string {
  return /\(([A-Z_]{4,})\)/.exec(text)?.[1] ?? /^([A-Za-z_]+):/.exec(text)?.[1] ?? text.slice(0, 60);
}

function share(hits: number, of: number): ProbeSummary["blocked"] {
  const [low, high] = wilson(hits, of) ?? [null, null];
  return { count: hits, of, low, high };
}

function targetSummary(target: Target, events: readonly SafetyEvent[], all: readonly ProbeSummary[]): TargetSummary {
  const own = lastRun(events, target.id);
  const ended = own.findLast((event) => event.type === "target-ended");
  const probes = all.filter((each) => each.target === target.id);
  const asked = own.flatMap((event) => (event.type === "consultation" ? [event] : []));
  const rates = probes.filter(({ attempts }) => attempts > 0).map(({ blocked, attempts }) => blocked.count / attempts);
  return {
    target,
    status: ended?.type === "target-ended" ? ended.status : own.length === 0 ? "missing" : "interrupted",
    reason: ended?.type === "target-ended" ? ended.reason : null,
    consultations: share(sum(asked.map(({ answered }) => answered)), sum(asked.map((each) => each.asked))),
    columns: Object.fromEntries(COLUMNS.map((column) => [column, verdictOf(probes, column)])) as TargetSummary["columns"],
    score: rates.length === 0 ? null : (100 * sum(rates)) / rates.length,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function verdictOf(probes: readonly ProbeSummary[], column: Column): TargetSummary["columns"][Column] {
  const own = probes.filter((each) => each.column === column && each.attempts > 0);
  if (own.length === 0) return null;
  if (own.some(({ succeeded }) => succeeded.count > 0)) return "broken";
  return own.every(({ inconclusive }) => inconclusive === 0) ? "held" : "open";
}

/** A control decides whether the probes can be believed: all its scored attempts have the one outcome. */
function controlCheck(plan: Plan, all: readonly Judged[], control: "open" | "hardened", expected: Outcome) {
  const target = plan.targets.find(({ protocol, deployment }) => protocol === null && deployment === control);
  const attempts = all.filter((each) => each.target === target?.id && each.scored);
  const others = attempts.filter(({ outcome }) => outcome !== expected);
  const probed = new Set(attempts.map(({ probe }) => probe));
  const isAll = plan.config.probes.every((probe) => probed.has(probe));
  const named = [...new Set(others.map(({ probe, variant }) => `${probe} ${variant}`))].slice(0, LISTED);
  const rest = others.length === 0 ? "" : `: not ${named.join(", ")}`;
  return {
    passed: attempts.length > 0 && others.length === 0 && isAll,
    statement: `${attempts.length - others.length} of ${attempts.length} attempts at the ${control} control ${expected === "blocked" ? "were blocked" : "succeeded"}${rest}.`,
  };
}

function legitimateCheck(all: readonly Judged[]) {
  const failed = all.filter(({ before, after }) => !before || !after).length;
  return {
    passed: all.length > 0 && failed === 0,
    statement: `Legitimate requests were answered before and after ${all.length - failed} of ${all.length} attempts.`,
  };
}

function marksOf({ mode, config }: Plan, targets: readonly TargetSummary[]): string[] {
  const unfinished = targets.filter(({ status }) => status !== "complete");
  return [
    ...(mode === "quick" ? ["Quick: fewer rounds than the paper, a shorter capture."] : []),
    ...(config.probes.length < Object.keys(COLUMN_OF).length ? [`Only ${config.probes.length} of the probes ran.`] : []),
    ...unfinished.map(({ target, status, reason }) => `${target.id}: ${status}${reason === null ? "" : `: ${reason}`}`),
  ];
}
