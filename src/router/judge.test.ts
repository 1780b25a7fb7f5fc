import { describe, expect, it } from "vitest";
import { defaultCandidates } from "../protocols/candidates.js";
import { READINGS } from "./evidence/readings.js";
import { type DecidedBy, feasibleCandidates, judge, spansOf } from "./judge.js";
import type { Module, Scenario } from "./scenario.js";
import type { RouterSettings } from "./settings.js";

const scenarioOf = (module: Module): Scenario => ({ id: "s", description: "", modules: [module] });
const saying = (text: string, more: Partial<Module> = {}): Module => ({ id: "m", passages: [{ kind: "need", text }], ...more });
const judged = (module: Module, settings?: RouterSettings) => judge(scenarioOf(module), module, settings);
const CHAT = "The two agents chat to and fro, question and answer, with follow-ups.";

describe("judge()", () => {
  const BY: readonly (readonly [DecidedBy, Module, RouterSettings])[] = [
    ["constraints", saying("", { only: ["ACP"] }), {}],
    ["constraints", saying(CHAT), { candidates: defaultCandidates().slice(0, 1) }],
    ["priority", saying(CHAT), {}],
    ["ranking", saying("", { requires: ["resource-operations", "routine-governance"] }), { ranking: ["Agora"] }],
    ["order", saying("", { requires: ["resource-operations", "routine-governance"] }), {}],
    ["nothing", saying("Please make it nice."), {}],
    ["nothing", saying(CHAT, { only: ["A2A"], never: ["A2A"] }), {}],
    ["nothing", saying(CHAT), { candidates: [] }],
  ];
  for (const [by, module, settings] of BY)
    it(`knows what decided: ${by} for ${JSON.stringify(module)}`, () => {
      expect(judged(module, settings).decidedBy).toBe(by);
    });

  it("keeps all steps of a decision", () => {
    const { spans, evidence, feasible, unfit, standings, chosen, margin } = judged(saying(CHAT, { never: ["ANP"] }));
    expect(spans.length).toBeGreaterThan(0);
    expect(evidence.some(({ capability }) => capability === "turn-taking")).toBe(true);
    expect(feasible.map(({ name }) => name)).toEqual(["A2A", "ACP", "Agora"]);
    expect(unfit.map(({ candidate }) => candidate.name)).toEqual(["ANP"]);
    expect(standings[0]?.candidate).toBe(chosen);
    expect(margin).toBeGreaterThan(0);
    expect(margin).toBeLessThanOrEqual(1);
  });

  it("uses readings by embeddings", () => {
    const module = saying("Zqvaxw zqvbxw zqvcxw zqvdxw zqvexw zqvfxw zqvgxw zqvhxw.");
    const spans = spansOf(scenarioOf(module), module, {});
    const reading = Float64Array.from(READINGS, (each) => (each === "end-to-end-secrecy" ? 1 : 0));
    const read = { spans, readings: new Map(spans.map((span) => [span, reading])) };
    expect(judged(module).chosen).toBeUndefined();
    expect(judge(scenarioOf(module), module, {}, read).chosen?.name).toBe("ANP");
  });

  it("reports that all needs have equal weight", () => {
    const text = `${CHAT} Every berth is a resource that is created, read, updated and deleted at its own URL.`;
    expect(judged(saying(text)).chosen?.name).toBe("ACP");
    expect(new Set(judged(saying(text), { without: ["priority"] }).claims.map(({ tier }) => tier))).toEqual(new Set([undefined]));
  });

  it("weights a name less than a need", () => {
    const module: Module = {
      id: "m",
      passages: [
        { kind: "name", text: "Voting machine" },
        { kind: "need", text: CHAT },
      ],
    };
    expect(judged(module).chosen?.name).toBe("A2A");
  });
});

describe("feasibleCandidates()", () => {
  it("are those that satisfy every hard constraint, whatever is selected", () => {
    const module = saying(CHAT, { requires: ["streaming"] });
    expect(feasibleCandidates(scenarioOf(module), module).map(({ name }) => name)).toEqual(["A2A", "ACP", "ANP"]);
  });
});
