import { describe, expect, it } from "vitest";
import { CAPABILITIES, type CapabilityId, type Features } from "../../protocols/features.js";
import type { Module } from "../scenario.js";
import { PRIORITY, type Tier } from "../settings.js";
import type { Claim } from "./claims.js";
import { type Constraint, isProtocolCompatible, reduceCandidates, whyIncompatible } from "./constraints.js";
import { priorityDecide } from "./priority.js";
import { pickByNarrative } from "./tie-break.js";
import { tierOf } from "./tiers.js";

function row(name: string, more: Partial<Features> = {}): Features {
  const words = { title: name, madeFor: "this", lessSuitedFor: "that", facts: [] };
  return { id: name.toLowerCase(), name, ...words, orientation: [], lessSuited: [], inherent: [], support: {}, ...more };
}
const ALPHA = row("Alpha", { support: { streaming: "native" }, inherent: ["resource-operations"] });
const BETA = row("Beta", { support: { streaming: "composed", "end-to-end-secrecy": "native" } });
const GAMMA = row("Gamma");
const ALL = [ALPHA, BETA, GAMMA];
const MODULE: Module = { id: "m", passages: [] };
const requires = (capability: CapabilityId): Constraint => ({ kind: "requires", capability, stated: true });
const avoids = (capability: CapabilityId): Constraint => ({ kind: "avoids", capability, stated: true });

describe("isProtocolCompatible()", () => {
  it("needs support, native or composed, for all that is required", () => {
    expect(ALL.map((each) => isProtocolCompatible(each, [requires("streaming")]))).toEqual([true, true, false]);
    expect(ALL.map((each) => isProtocolCompatible(each, [requires("streaming"), requires("end-to-end-secrecy")]))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("rejects candidates with avoided capabilities", () => {
    expect(ALL.map((each) => isProtocolCompatible(each, [avoids("resource-operations")]))).toEqual([false, true, true]);
    expect(isProtocolCompatible(ALPHA, [])).toBe(true);
  });

  it("reports the reason", () => {
    expect(whyIncompatible(GAMMA, [requires("streaming")])).toBe("cannot carry streaming");
    expect(whyIncompatible(ALPHA, [avoids("resource-operations")])).toContain("resource operations");
    expect(whyIncompatible(BETA, [requires("streaming")])).toBeUndefined();
  });
});

describe("reduceCandidates()", () => {
  const namesFor = (module: Partial<Module>, constraints: readonly Constraint[] = [], locks = true): readonly string[] =>
    reduceCandidates(ALL, { ...MODULE, ...module }, constraints, { locks }).feasible.map(({ name }) => name);

  it("keeps the order of the candidates", () => {
    expect(namesFor({})).toEqual(["Alpha", "Beta", "Gamma"]);
  });

  it("follows protocols allowed and excluded by name", () => {
    expect(namesFor({ only: ["Gamma", "Alpha"] })).toEqual(["Alpha", "Gamma"]);
    expect(namesFor({ never: ["Alpha"] })).toEqual(["Beta", "Gamma"]);
    expect(namesFor({ only: ["Alpha"], never: ["Alpha"] })).toEqual([]);
    expect(namesFor({ only: ["Alpha"] }, [], false)).toEqual(["Alpha", "Beta", "Gamma"]);
  });

  it("parts all candidates into those that can be taken and those that cannot, with a reason", () => {
    const { feasible, unfit } = reduceCandidates(ALL, { ...MODULE, never: ["Beta"] }, [requires("streaming")], { locks: true });
    expect(feasible).toEqual([ALPHA]);
    expect(unfit.map(({ candidate }) => candidate)).toEqual([BETA, GAMMA]);
    expect(unfit.filter(({ because }) => because === "")).toEqual([]);
  });
});

describe("tierOf()", () => {
  it("puts every capability into one of the three, and secrecy and trust across houses first", () => {
    expect(CAPABILITIES.filter(({ id }) => !PRIORITY.includes(tierOf(id)))).toEqual([]);
    expect((["end-to-end-secrecy", "verified-identity", "cross-boundary"] as const).map(tierOf)).toEqual([
      "identity",
      "identity",
      "identity",
    ]);
    expect(tierOf("resource-operations")).toBe("operations");
    expect(tierOf("turn-taking")).toBe("interaction");
  });
});

const claim = (candidate: Features, tier: Tier, weight: number, first = 0): Claim => ({
  candidate,
  tier,
  weight,
  amount: weight,
  first,
  evidence: [],
});
/** Every candidate has a claim in every tier, most of them of no weight. */
const claimsOf = (...given: readonly Claim[]): readonly Claim[] =>
  PRIORITY.flatMap((tier) =>
    ALL.map((candidate) => given.find((each) => each.tier === tier && each.candidate === candidate) ?? claim(candidate, tier, 0)),
  );

describe("priorityDecide()", () => {
  const orderOf = (...given: readonly Claim[]): readonly string[] =>
    priorityDecide(ALL, claimsOf(...given)).map(({ candidate }) => candidate.name);

  it("lets a sure need of a higher tier win over a sure one of a lower tier, whichever candidate has it", () => {
    expect(orderOf(claim(GAMMA, "identity", 0.9), claim(ALPHA, "interaction", 0.9))[0]).toBe("Gamma");
    expect(orderOf(claim(ALPHA, "identity", 0.9), claim(GAMMA, "operations", 0.9))[0]).toBe("Alpha");
    expect(orderOf(claim(BETA, "operations", 0.9), claim(ALPHA, "interaction", 0.9))[0]).toBe("Beta");
  });

  it("does not let a faint remark of a higher tier decide", () => {
    expect(orderOf(claim(GAMMA, "identity", 0.1), claim(ALPHA, "interaction", 0.9))[0]).toBe("Alpha");
  });

  it("uses the order of the candidates for ties", () => {
    expect(orderOf()).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(orderOf(claim(GAMMA, "operations", 0.5), claim(BETA, "operations", 0.5))).toEqual(["Beta", "Gamma", "Alpha"]);
  });

  it("keeps the margin between zero and one", () => {
    const given = ALL.flatMap((each) => PRIORITY.map((tier) => claim(each, tier, 1)));
    const weights = priorityDecide(ALL, claimsOf(...given)).map(({ weight }) => weight);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
    expect(Math.min(...weights)).toBeGreaterThanOrEqual(0);
  });
});

describe("pickByNarrative()", () => {
  const at = (candidate: Features, first: number): Claim => claim(candidate, "operations", 0.5, first);

  it("prefers the candidate whose phrase comes first, whatever the order of the candidates", () => {
    expect(pickByNarrative(ALL, [at(ALPHA, 4), at(BETA, 2), at(GAMMA, 3)])).toEqual([BETA]);
    expect(pickByNarrative([...ALL].reverse(), [at(ALPHA, 4), at(BETA, 2), at(GAMMA, 3)])).toEqual([BETA]);
  });

  it("keeps those that come first together, without the later one", () => {
    expect(pickByNarrative(ALL, [at(ALPHA, 4), at(BETA, 1), at(GAMMA, 1)])).toEqual([BETA, GAMMA]);
  });

  it("counts the earliest of a candidate's phrases", () => {
    expect(pickByNarrative([ALPHA, BETA], [at(ALPHA, 9), at(BETA, 5), at(ALPHA, 1)])).toEqual([ALPHA]);
  });

  it("leaves all where no phrase is clear", () => {
    expect(pickByNarrative(ALL, [])).toEqual(ALL);
  });
});
