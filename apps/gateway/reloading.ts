import { AgentError, type ErrorCode } from "../../src/index.js";
import type { PolicySink } from "../../src/public/policies.js";
import type { AgentSupervisor } from "./agent-supervisor.js";
import type { ReloadReport } from "./api.js";

/** Problems that no waiting mends: something is asked for that the configuration does not give. */
const MISTAKES: readonly ErrorCode[] = ["unauthenticated", "invalid_message", "downgrade_refused", "bad_signature", "loop"];

/** A demand that cannot be met is a mistake of the configuration; somebody who is away may come back. */
export function checkReached(keepers: readonly AgentSupervisor[], all: boolean): void {
  for (const { name, problem } of keepers) {
    if (problem === undefined || !(all || MISTAKES.includes(problem.code))) continue;
    throw new AgentError(problem.code, `${name}: ${problem.message}`, { ...problem.facts, cause: problem });
  }
}

/** What has become of each agent. */
export function reportOf(
  before: readonly AgentSupervisor[],
  after: readonly AgentSupervisor[],
  warnings: readonly string[],
): ReloadReport {
  const named = (keepers: readonly AgentSupervisor[], name: string): boolean => keepers.some((each) => each.name === name);
  const fresh = after.filter((keeper) => !before.includes(keeper)).map(({ name }) => name);
  return {
    added: fresh.filter((name) => !named(before, name)),
    changed: fresh.filter((name) => named(before, name)),
    removed: before.map(({ name }) => name).filter((name) => !named(after, name)),
    kept: after.filter((keeper) => before.includes(keeper)).map(({ name }) => name),
    warnings,
  };
}

export function reloadWords({ added, changed, removed, kept }: ReloadReport): string {
  const words = (names: readonly string[], what: string): readonly string[] =>
    names.length === 0 ? [] : [`${what}: ${names.join(", ")}`];
  return [...words(added, "added"), ...words(changed, "changed"), ...words(removed, "removed"), ...words(kept, "kept")].join(
    "; ",
  );
}

/** Two who hear the same. */
export function joined(first: PolicySink, second: PolicySink): PolicySink {
  return (note) => {
    first(note);
    second(note);
  };
}
