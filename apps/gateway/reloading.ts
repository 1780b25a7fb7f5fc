import { AgentError, type ErrorCode, type Maybe } from "../../src/index.js";
import type { PolicySink } from "../../src/public/policies.js";
import type { AgentSupervisor } from "./agent-supervisor.js";
import type { ReloadReport } from "./api.js";

/** Errors that retrying cannot fix. */
const PERMANENT: readonly ErrorCode[] = ["unauthenticated", "invalid_message", "downgrade_refused", "bad_signature", "loop"];

/** Throws for permanent errors, or for any error if `all` is true. Unreachable upstreams are retried in the background. */
export function assertReachable(supervisors: readonly AgentSupervisor[], all: boolean): void {
  for (const { name, problem } of supervisors) {
    if (problem === undefined || !(all || PERMANENT.includes(problem.code))) continue;
    throw new AgentError(problem.code, `${name}: ${problem.message}`, { ...problem.facts, cause: problem });
  }
}

/** Compares the agents before and after a reload. */
export function reportOf(
  before: readonly AgentSupervisor[],
  after: readonly AgentSupervisor[],
  warnings: readonly string[],
): ReloadReport {
  const named = (supervisors: readonly AgentSupervisor[], name: string): boolean =>
    supervisors.some((each) => each.name === name);
  const fresh = after.filter((supervisor) => !before.includes(supervisor)).map(({ name }) => name);
  return {
    added: fresh.filter((name) => !named(before, name)),
    changed: fresh.filter((name) => named(before, name)),
    removed: before.map(({ name }) => name).filter((name) => !named(after, name)),
    kept: after.filter((supervisor) => before.includes(supervisor)).map(({ name }) => name),
    warnings,
  };
}

export function reloadSummary({ added, changed, removed, kept }: ReloadReport): string {
  const part = (names: readonly string[], what: string): readonly string[] =>
    names.length === 0 ? [] : [`${what}: ${names.join(", ")}`];
  return [...part(added, "added"), ...part(changed, "changed"), ...part(removed, "removed"), ...part(kept, "kept")].join("; ");
}

/** Sends every event to both sinks. */
export function combineSinks(sinks: readonly Maybe<PolicySink>[]): PolicySink {
  return (note) => {
    for (const sink of sinks) sink?.(note);
  };
}
