import { describe, expect, it } from "vitest";
import { defaultCandidates, type Embedder, route, type Scenario } from "../../src/router/index.js";
import { explanations, notSpoken } from "./route-print.js";

/** Words that no training sentence has: only an embedder can classify them. */
const SCENARIO: Scenario = {
  id: "s",
  description: "",
  modules: [{ id: "m", passages: [{ kind: "need", text: "Zqvaxw zqvbxw zqvcxw zqvdxw." }] }],
};

/** The trained head reads this vector as a need for fan-out. */
const VECTOR = Float32Array.from({ length: 384 }, (_, index) => (index === 4 ? 3 : 0));
const embedder: Embedder = { embed: async (texts) => texts.map(() => VECTOR) };

describe("notSpoken()", () => {
  it("names chosen protocols that are described and not built in", async () => {
    const [row] = defaultCandidates();
    if (row === undefined) throw new Error("there are candidates");
    const candidates = [{ ...row, id: "drums", name: "Drums", inherent: [] }];
    const module = { id: "m", passages: [], requires: ["streaming"] } as const;
    const routing = await route({ id: "s", description: "", modules: [module] }, { candidates });
    expect(notSpoken(routing, new Set(["a2a", "acp"]))).toEqual(["Drums"]);
    expect(notSpoken(routing, new Set(["drums"]))).toEqual([]);
  });
});

describe("explanations()", () => {
  it("shows what was learned of each feasible protocol", async () => {
    const module = { id: "m", passages: [], requires: ["streaming"] } as const;
    const state = new Map([["a2a", { good: 8, bad: 0 }]]);
    const [text] = explanations(await route({ id: "s", description: "", modules: [module] }), {}, { context: "eu", state });
    expect(text).toContain("learned   A2A  mean reward 0.90 by 8.0 outcomes, in eu\n            ACP  not tried, in eu\n");
  });

  it("explains the judgement the decision was made from, with its embeddings", async () => {
    const settings = { embedder };
    const [text] = explanations(await route(SCENARIO, settings), settings);
    expect(text).toContain("m: A2A");
    expect(text).toContain("evidence  “Zqvaxw zqvbxw zqvcxw zqvdxw”  fan-out\n");
    expect(text).toContain("interaction  select A2A\n");
    expect(text).toContain("decided   by the strongest group of needs\n");
  });

  it("has one for each module, in the order of scenarios and modules", async () => {
    const module = (id: string) => ({ id, passages: [] });
    const scenarios = [
      { id: "one", description: "", modules: [module("a"), module("b")] },
      { id: "two", description: "", modules: [module("c")] },
    ];
    for (const scope of ["module", "scenario"] as const) {
      const routing = await route(scenarios, { scope });
      expect(routing.judgements.map(({ module: { id } }) => id)).toEqual(["a", "b", "c"]);
      expect(explanations(routing, { scope }).map((text) => text.slice(0, 2))).toEqual(["a:", "b:", "c:"]);
    }
  });
});
