import { expect, it } from "vitest";
import { chooseProtocols } from "../../router-loop/choose.js";
import { planSafety } from "../plan.js";
import { PAPER } from "../probe-config.js";
import { safetyRouterTable } from "./router-table.js";

const PROTOCOLS = ["a2a", "anp"];
const DEPLOYMENTS = ["minimal", "recommended"] as const;
const routing = { scenario: "M1-Doctors", decisions: [{ module: "doctor", protocol: "anp", rationale: "" }] };
const plan = planSafety({ mode: "paper", config: PAPER, protocols: PROTOCOLS, deployments: DEPLOYMENTS, routing });

it("probes the protocol that the router chose once more, as recommended", () => {
  const { target, same } = {
    target: plan.targets.find(({ id }) => id === "router"),
    same: plan.targets.find(({ id }) => id === "anp recommended"),
  };
  expect(target).toEqual({ ...same, id: "router" });
  expect(plan.routing).toEqual(routing);
  const without = planSafety({ mode: "paper", config: PAPER, protocols: PROTOCOLS, deployments: DEPLOYMENTS });
  expect(without.targets.map(({ id }) => id)).not.toContain("router");
  expect(safetyRouterTable({ plan: without, targets: [] } as never)).toBeUndefined();
});

it("says so where the router has no plan, and probes everything else", async () => {
  const none = await chooseProtocols("safety", ["a2a"]);
  expect(none.infeasible).toMatch(/^registration desk: .*No candidate/);
  const poor = planSafety({ mode: "paper", config: PAPER, protocols: ["a2a"], deployments: DEPLOYMENTS, routing: none });
  expect(poor.targets.map(({ id }) => id)).toEqual(["open", "hardened", "a2a minimal", "a2a recommended"]);
  const table = safetyRouterTable({ plan: poor, targets: [] } as never);
  expect(table?.rows).toEqual([["plan", "none", "–", "–", "–"]]);
  expect(table?.note).toMatch(
    /^The router has no feasible plan for .* among the protocols that are measured\. registration desk: /,
  );
});

/** Variants by target: whether each was blocked. */
function resultOf(blocked: Readonly<Record<string, readonly boolean[]>>) {
  const columns = { tls: "held", hijack: "held", e2e: "broken", sniffing: null, metadata: "open", messages: "held" };
  return {
    plan,
    targets: plan.targets.map((target) => ({ target, columns, score: target.id === "a2a recommended" ? 90 : 80 })),
    probes: Object.entries(blocked).map(([target, each]) => ({
      ...{ target, probe: "replay" },
      variants: each.map((hit, index) => ({ variant: String(index), scored: true, attempts: 2, blocked: hit ? 2 : 1 })),
    })),
  } as never;
}

it("compares it variant by variant with the best single protocol of the same deployment", () => {
  const table = safetyRouterTable(resultOf({ router: [true, true, false], "a2a recommended": [true, true, false] }));
  expect(table?.rows[2]).toEqual(["E2E encryption", "✗", "✗ (a2a recommended)", "✓", "✓ (ANP)"]);
  expect(table?.rows.at(-1)?.slice(1, 3)).toEqual(["80.0", "90.0 (a2a recommended)"]);
  expect(table?.note).toContain("No difference: the same 3 variants");

  // Five that only one of them blocked, none the other way round: p = 2 / 2^5.
  const differing = safetyRouterTable(resultOf({ router: Array(5).fill(true), "a2a recommended": Array(5).fill(false) }));
  expect(differing?.note).toContain("5 were blocked only by the router's plan and 0 only by a2a recommended: p = 0.063");
});
