import { describe, expect, it } from "vitest";
import { AgentError, CancelSource } from "../envelope/index.js";
import type { Embedder } from "./embedder.js";
import { decideAll } from "./routing.js";
import type { Module, Scenario } from "./scenario.js";
import type { OpenQuestion, SecondOpinion } from "./second-opinion.js";
import type { RouterSettings } from "./settings.js";

const saying = (text: string, more: Partial<Module> = {}): Module => ({ id: "m", passages: [{ kind: "need", text }], ...more });
const scenarioOf = (id: string, ...modules: readonly Module[]): Scenario => ({ id, description: "", modules });
const NOTHING = "Please make it nice.";

/** Somebody who remembers what was asked, and gives no answer. */
class Silent implements SecondOpinion {
  readonly asked: OpenQuestion[] = [];

  async about(question: OpenQuestion): Promise<{ readonly kind: "none"; readonly because: string }> {
    this.asked.push(question);
    return { kind: "none", because: "nobody is in" };
  }
}

describe("decideAll()", () => {
  it("decides one scenario or many, in the order of scenarios and modules", async () => {
    const one = scenarioOf("one", saying("", { id: "a" }), saying("", { id: "b" }));
    const two = scenarioOf("two", saying("", { id: "c" }));
    const ids = (await decideAll([one, two], {}, new CancelSource())).decisions.map(
      ({ scenario_id, module_id }) => `${scenario_id} ${module_id}`,
    );
    expect(ids).toEqual(["one a", "one b", "two c"]);
    const [alone, listed] = [await decideAll(two, {}, new CancelSource()), await decideAll([two], {}, new CancelSource())];
    expect(alone.decisions).toEqual(listed.decisions);
    expect(await decideAll([], {}, new CancelSource())).toEqual({ decisions: [], judgements: [] });
  });

  it("requests a second opinion with the module's texts, the feasible candidates and the ranking", async () => {
    const opinion = new Silent();
    const module = saying(NOTHING, { never: ["ANP"] });
    const scenario = { ...scenarioOf("s", module), description: "A quiet place." };
    const settings: RouterSettings = { abstain: { kind: "model", opinion }, ranking: ["ACP"] };
    const [decision] = (await decideAll(scenario, settings, new CancelSource())).decisions;
    expect(decision).toMatchObject({ selected_protocol: null, abstained: true });
    expect(opinion.asked).toHaveLength(1);
    const [asked] = opinion.asked;
    expect(asked?.input).toEqual([NOTHING, "A quiet place."]);
    expect(asked?.feasible.map(({ name }) => name)).toEqual(["A2A", "ACP", "Agora"]);
    expect(asked?.ranking).toEqual(["ACP"]);
  });

  it("hands a second opinion the caller's wish to stop", async () => {
    const cancel = new CancelSource();
    const stop = new AgentError("cancelled", "enough");
    const opinion: SecondOpinion = {
      async about(_question, given) {
        cancel.cancel(stop);
        if (given.reason !== undefined) throw given.reason;
        return { kind: "none", because: "it was not told" };
      },
    };
    const scenario = scenarioOf("s", saying(NOTHING));
    await expect(decideAll(scenario, { abstain: { kind: "model", opinion } }, cancel)).rejects.toBe(stop);
  });

  it("starts nothing more once it was stopped", async () => {
    const cancel = new CancelSource();
    const stop = new AgentError("cancelled", "enough");
    cancel.cancel(stop);
    const opinion = new Silent();
    await expect(decideAll(scenarioOf("s", saying(NOTHING)), { abstain: { kind: "model", opinion } }, cancel)).rejects.toBe(stop);
    expect(opinion.asked).toEqual([]);
  });

  it("uses sentence embeddings only if available and not switched off", async () => {
    let asked = 0;
    const embedder: Embedder = {
      async embed(texts) {
        asked++;
        return texts.map(() => new Float32Array(384));
      },
    };
    const scenario = scenarioOf("s", saying("Zqvaxw zqvbxw zqvcxw zqvdxw."));
    await decideAll(scenario, { embedder, without: ["embeddings"] }, new CancelSource());
    expect(asked).toBe(0);
    await decideAll(scenario, { embedder }, new CancelSource());
    expect(asked).toBe(1);
  });
});
