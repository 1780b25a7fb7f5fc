import { describe, expect, it } from "vitest";
import { type Embedder, route, type Scenario } from "../../src/router/index.js";
import { explanations } from "./route-print.js";

/** Words that no training sentence has: only an embedder can classify them. */
const SCENARIO: Scenario = {
  id: "s",
  description: "",
  modules: [{ id: "m", passages: [{ kind: "need", text: "Zqvaxw zqvbxw zqvcxw zqvdxw." }] }],
};

/** The trained head reads this vector as a need for fan-out. */
const VECTOR = Float32Array.from({ length: 384 }, (_, index) => (index === 4 ? 3 : 0));
const embedder: Embedder = { embed: async (texts) => texts.map(() => VECTOR) };

describe("explanations()", () => {
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
