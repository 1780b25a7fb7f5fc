import { describe, expect, it } from "vitest";
import { type Decision, type Module, type RouterSettings, route } from "../../src/router/index.js";
import { moduleSaying, scenarioOf } from "./scenarios.js";

const TOGETHER: RouterSettings = { scope: "scenario" };
const CHAT = moduleSaying("The two agents chat to and fro, question and answer, with follow-ups.", { id: "chat" });
const SHELF = moduleSaying("Every shelf is a resource that is created, read, updated and deleted at its own URL.", {
  id: "shelf",
});
const STORE = moduleSaying("Two hundred thousand records are loaded in one batch every night and archived.", { id: "store" });

async function together(modules: readonly Module[], settings: RouterSettings = {}): Promise<readonly Decision[]> {
  return (await route(scenarioOf(...modules), { ...TOGETHER, ...settings })).decisions;
}
const chosen = (decisions: readonly Decision[]): readonly (string | null)[] =>
  decisions.map(({ selected_protocol }) => selected_protocol);

describe("one protocol for a whole scenario", () => {
  it("is the one that most modules support, and every decision reports that", async () => {
    expect(chosen((await route(scenarioOf(CHAT, SHELF, STORE))).decisions)).toEqual(["A2A", "ACP", "ACP"]);
    const decisions = await together([CHAT, SHELF, STORE]);
    expect(chosen(decisions)).toEqual(["ACP", "ACP", "ACP"]);
    expect(new Set(decisions.map(({ margin }) => margin)).size).toBe(1);
    for (const { rationale } of decisions) expect(rationale).toContain("The choice stands for all modules together.");
  });

  it("attributes no foreign needs to a module", async () => {
    const [chat] = await together([CHAT, SHELF, STORE]);
    expect(chat?.rationale).toBe("The choice stands for all modules together.");
    expect(chat?.evidence_spans).toEqual([]);
    expect(chat?.rejected.find(({ protocol }) => protocol === "A2A")?.because).toBe("suits the modules together less");
  });

  it("satisfies every module: a protocol that one module excludes is not chosen", async () => {
    const decisions = await together([{ ...SHELF, never: ["ACP"] }, STORE]);
    expect(chosen(decisions)).not.toContain("ACP");
    expect(decisions[1]?.rejected.find(({ protocol }) => protocol === "ACP")?.because).toBe(
      "for another module it is ruled out by the file",
    );
  });

  it("reports the conflicting constraints if there is none", async () => {
    const secret = moduleSaying("", { id: "secret", requires: ["end-to-end-secrecy"] });
    const barred = moduleSaying("", { id: "barred", never: ["ANP"] });
    const decisions = await together([secret, barred]);
    expect(chosen(decisions)).toEqual([null, null]);
    for (const { rationale, abstained, margin, rejected } of decisions) {
      expect(rationale).toBe("No candidate can carry all that the modules demand together.");
      expect([abstained, margin]).toEqual([true, 0]);
      expect(rejected.map(({ protocol }) => protocol).sort()).toEqual(["A2A", "ACP", "ANP", "Agora"]);
    }
    expect(decisions[0]?.rejected.find(({ protocol }) => protocol === "A2A")?.because).toBe("cannot carry end-to-end secrecy");
    expect(decisions[0]?.rejected.find(({ protocol }) => protocol === "ANP")?.because).toContain("another module");
    expect(decisions[1]?.rejected.find(({ protocol }) => protocol === "A2A")?.because).toContain("end-to-end secrecy");
  });

  it("is the only one left, without any prose", async () => {
    const decisions = await together([
      moduleSaying("", { id: "a", only: ["ACP", "Agora"] }),
      moduleSaying("", { id: "b", never: ["ACP"] }),
    ]);
    expect(chosen(decisions)).toEqual(["Agora", "Agora"]);
    expect(decisions.map(({ margin }) => margin)).toEqual([1, 1]);
  });

  it("is undecided if no text decides, and reports no conflict", async () => {
    const decisions = await together([moduleSaying("", { id: "a" }), moduleSaying("", { id: "b" })]);
    expect(chosen(decisions)).toEqual([null, null]);
    for (const { rationale } of decisions) expect(rationale).toBe("Nothing in the text decides.");
  });

  it("takes a default for all or for none", async () => {
    const abstain = { kind: "default", protocol: "A2A" } as const;
    const open = moduleSaying("", { id: "a" });
    expect(chosen(await together([open, { ...open, id: "b" }], { abstain }))).toEqual(["A2A", "A2A"]);
    expect(chosen(await together([open, { ...open, id: "b", never: ["A2A"] }], { abstain }))).toEqual([null, null]);
  });

  it("rejects a second opinion that names several", async () => {
    const opinions = ["A2A", "ACP"];
    const about = async () => {
      const protocol = opinions.shift() ?? "ANP";
      return {
        kind: "opinion",
        opinion: { protocol, evidence_spans: [], rationale: "It fits.", prompt_sha256: "ab".repeat(32) },
      } as const;
    };
    const open = moduleSaying("", { id: "a" });
    const decisions = await together([open, { ...open, id: "b" }], { abstain: { kind: "model", opinion: { about } } });
    expect(opinions).toEqual([]);
    expect(chosen(decisions)).toEqual([null, null]);
  });

  it("is decided scenario by scenario", async () => {
    const { decisions } = await route([scenarioOf(CHAT), { ...scenarioOf(SHELF, STORE), id: "t" }], TOGETHER);
    expect(chosen(decisions)).toEqual(["A2A", "ACP", "ACP"]);
  });
});
