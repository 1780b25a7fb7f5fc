import { mcnemar } from "../../../harness/proportions.js";
import type { Table } from "../../../harness/table.js";
import { ROUTER_ARM } from "../../router-loop/choose.js";
import { infeasibleTable, ROUTER_TABLE } from "../../router-loop/router-tables.js";
import type { Column, SafetyResult, TargetSummary } from "../result/result.js";

/** The rows of the paper's table 7 for this scenario: what it calls them, our column, and what it says of the router and of the best protocol. */
const ROWS: readonly (readonly [title: string, column: Column, router: string, best: string])[] = [
  ["TLS transport", "tls", "✓", "✓ (ANP)"],
  ["Session protection", "hijack", "✓", "✓ (ANP)"],
  ["E2E encryption", "e2e", "✓", "✓ (ANP)"],
  ["Sniffing", "sniffing", "–", "–"],
  ["Metadata", "metadata", "–", "–"],
  ["Messages", "messages", "–", "–"],
];
const MARKS = { held: "✓", broken: "✗", open: "?" } as const;

/** The protocol that the router chose for the doctors against the best single one in the same deployment; undefined without a plan. */
export function safetyRouterTable(result: SafetyResult): Table | undefined {
  const { routing } = result.plan;
  if (routing?.infeasible !== undefined) return infeasibleTable(routing);
  const router = result.targets.find(({ target }) => target.id === ROUTER_ARM);
  if (router === undefined) return undefined;
  const best = bestSingle(result, router);
  const mark = (summary: TargetSummary | undefined, column: Column) => {
    const verdict = summary?.columns[column] ?? null;
    return verdict === null ? "–" : MARKS[verdict];
  };
  const named = (text: string) => (best === undefined ? "–" : `${text} (${best.target.id})`);
  return {
    ...ROUTER_TABLE,
    rows: [
      ...ROWS.map(([title, column, ...paper]) => [title, mark(router, column), named(mark(best, column)), ...paper]),
      ["score", score(router), best === undefined ? "–" : named(score(best)), "–", "–"],
    ],
    note: sentence(result, router, best),
  };
}

function score({ score: value }: TargetSummary): string {
  return value === null ? "–" : value.toFixed(1);
}

/** By score; the first of equals. */
function bestSingle({ targets }: SafetyResult, router: TargetSummary): TargetSummary | undefined {
  return targets
    .filter(
      ({ target }) => target.id !== ROUTER_ARM && target.protocol !== null && target.deployment === router.target.deployment,
    )
    .toSorted((a, b) => (b.score ?? -1) - (a.score ?? -1))[0];
}

/** The scored variants of every probe, and whether every attempt of each was blocked. */
function blockedAt({ probes }: SafetyResult, target: string): ReadonlyMap<string, boolean> {
  return new Map(
    probes
      .filter((each) => each.target === target)
      .flatMap(({ probe, variants }) =>
        variants
          .filter(({ scored }) => scored)
          .map((each) => [`${probe} ${each.variant}`, each.blocked === each.attempts] as const),
      ),
  );
}

function sentence(result: SafetyResult, router: TargetSummary, best: TargetSummary | undefined): string {
  const { protocol, deployment } = router.target;
  const plan = `The router chose ${protocol} for the doctors; the registration desk and the coordinator's directory are the same in every target. Deployment: ${deployment}. `;
  if (best === undefined) return `${plan}There is no single protocol to compare it with.`;
  const [ours, theirs] = [blockedAt(result, router.target.id), blockedAt(result, best.target.id)];
  const pairs = [...ours].flatMap(([variant, blocked]) => {
    const other = theirs.get(variant);
    return other === undefined ? [] : [[blocked, other] as const];
  });
  const only = (first: boolean) => pairs.filter(([a, b]) => a === first && b === !first).length;
  const [onlyRouter, onlyBest] = [only(true), only(false)];
  const same = best.target.protocol === protocol ? " The plan is the best single protocol itself." : "";
  const compared =
    onlyRouter + onlyBest === 0
      ? `No difference: the same ${pairs.length} variants of the probes were blocked or not.`
      : `Of ${pairs.length} variants ${onlyRouter} were blocked only by the router's plan and ${onlyBest} only by ${best.target.id}: p = ${mcnemar(onlyRouter, onlyBest).toPrecision(2)} (exact McNemar).`;
  return `${plan}${compared}${same}`;
}
