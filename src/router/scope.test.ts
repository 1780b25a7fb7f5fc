import { describe, expect, it } from "vitest";
import type { Features } from "../protocols/features.js";
import type { Judgement } from "./judge.js";
import { agreeOnOne, heldTogether } from "./scope.js";
import { marginOf } from "./select/confidence.js";

function row(name: string): Features {
  const words = { title: name, madeFor: "this", lessSuitedFor: "that", facts: [] };
  return { id: name.toLowerCase(), name, ...words, orientation: [], lessSuited: [], inherent: [], support: {} };
}
const ALPHA = row("Alpha");
const BETA = row("Beta");
const GAMMA = row("Gamma");
const ALL = [ALPHA, BETA, GAMMA];

/** What was found out about a module: what speaks for each candidate, and who cannot be taken. */
function judged(weights: Readonly<Record<string, number>>, unfit: Readonly<Record<string, string>> = {}): Judgement {
  const feasible = ALL.filter(({ name }) => unfit[name] === undefined);
  const module = { id: "m", passages: [] };
  return {
    scenario: { id: "s", description: "", modules: [module] },
    module,
    spans: [],
    evidence: [],
    constraints: [],
    claims: [],
    feasible,
    unfit: ALL.flatMap((candidate) => {
      const because = unfit[candidate.name];
      return because === undefined ? [] : [{ candidate, because, named: false }];
    }),
    standings: feasible.map((candidate) => ({ candidate, weight: weights[candidate.name] ?? 0 })),
    chosen: undefined,
    decidedBy: "nothing",
    margin: 0,
  };
}

describe("agreeOnOne()", () => {
  it("selects the protocol with the most evidence over all modules", () => {
    const agreement = agreeOnOne([judged({ Alpha: 0.6, Beta: 0.5 }), judged({ Beta: 0.5 })]);
    expect(agreement.chosen).toBe(BETA);
    expect(agreement.margin).toBeCloseTo(marginOf(0.2), 12);
  });

  it("never selects one that is infeasible for a module, whatever the others need", () => {
    const agreement = agreeOnOne([judged({ Alpha: 1 }), judged({ Gamma: 0.1 }, { Alpha: "cannot" })]);
    expect(agreement.chosen).toBe(GAMMA);
    expect(agreement.suited).toEqual([BETA, GAMMA]);
  });

  it("selects the only feasible one without evidence", () => {
    const agreement = agreeOnOne([judged({}, { Alpha: "cannot" }), judged({}, { Beta: "must not" })]);
    expect(agreement).toEqual({ chosen: GAMMA, margin: 1, suited: [GAMMA] });
  });

  it("selects none if none is feasible for all, or nothing is evidence", () => {
    const apart = agreeOnOne([judged({}, { Alpha: "no", Beta: "no" }), judged({}, { Gamma: "no" })]);
    expect(apart).toEqual({ chosen: undefined, margin: 0, suited: [] });
    expect(agreeOnOne([judged({}), judged({})])).toEqual({ chosen: undefined, margin: 0, suited: ALL });
    expect(agreeOnOne([]).chosen).toBeUndefined();
  });

  it("breaks ties by a ranking, and nothing else", () => {
    const even = [judged({ Alpha: 0.5, Beta: 0.5 })];
    expect(agreeOnOne(even).chosen).toBe(ALPHA);
    expect(agreeOnOne(even, ["Beta", "Alpha"]).chosen).toBe(BETA);
    expect(agreeOnOne(even, ["Gamma", "Beta"]).chosen).toBe(BETA);
    expect(agreeOnOne([judged({ Alpha: 0.8, Beta: 0.2 })], ["Beta"]).chosen).toBe(ALPHA);
  });
});

describe("heldTogether()", () => {
  it("explains why each candidate fails elsewhere, and keeps a module's own reason", () => {
    const both = [judged({ Alpha: 1 }, { Beta: "cannot carry streaming" }), judged({}, { Alpha: "is ruled out by the file" })];
    const [first] = both.map((judgement) => heldTogether(judgement, both, agreeOnOne(both)));
    expect(first?.feasible).toEqual([GAMMA]);
    expect(first?.unfit).toEqual([
      { candidate: ALPHA, because: "for another module it is ruled out by the file", named: false },
      { candidate: BETA, because: "cannot carry streaming", named: false },
    ]);
  });
});
