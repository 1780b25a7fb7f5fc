import { describe, expect, it } from "vitest";
import { judge } from "./judge.js";
import { lintRationale } from "./lint/rationale.js";
import { groundsFor, rationaleOf, rationaleTogether, rejectionsOf } from "./rationale.js";
import type { Module } from "./scenario.js";

function explained(text: string, more: Partial<Module> = {}) {
  const module: Module = { id: "m", passages: [{ kind: "need", text }], ...more };
  const judgement = judge({ id: "s", description: "", modules: [module] }, module);
  if (judgement.chosen === undefined) throw new Error("the text was meant to decide");
  const grounds = groundsFor(judgement, judgement.chosen);
  return { judgement, grounds, chosen: judgement.chosen, rationale: rationaleOf(judgement, grounds) };
}
const SECRET = "Nobody between the two ends can decrypt or read the content.";

describe("groundsFor()", () => {
  it("shows pieces of the text, none of them within another", () => {
    const text = `${SECRET} Nobody between the two ends can read it. The relay sees ciphertext only.`;
    const { spans } = explained(text).grounds;
    expect(spans.length).toBeGreaterThan(0);
    for (const span of spans) expect(text).toContain(span);
    expect(spans.filter((one) => spans.some((other) => other !== one && other.includes(one)))).toEqual([]);
  });

  it("shows five at most, and names three needs at most", () => {
    const texts = [
      SECRET,
      "Every party proves its identity with its own keys.",
      "Each message is signed so that no sender can deny it.",
      "Consent can be withdrawn at any time.",
      "Partners belong to different companies that share no authority.",
      "Impostors are turned away at the door by their credentials.",
      "The relay forwards sealed envelopes that it cannot open.",
      "A signature proves afterwards who sent what.",
    ];
    const { grounds } = explained(texts.join(" "));
    expect(grounds.spans).toHaveLength(5);
    expect(grounds.needs).toHaveLength(3);
  });

  it("names requirements of the file without textual evidence", () => {
    const { grounds, rationale } = explained("", { requires: ["verified-identity"] });
    expect(grounds).toEqual({ spans: [], needs: [{ capability: "verified-identity", quote: undefined }] });
    expect(rationale).toBe("Needs verified identity. The others cannot carry what is demanded.");
  });
});

describe("rationaleOf()", () => {
  it("quotes its evidence", () => {
    const { rationale, grounds } = explained(SECRET);
    expect(rationale).toContain(`end-to-end secrecy ("${grounds.spans[0]}")`);
  });

  it("does not quote digits, quotation marks or talk of speed, which stay evidence", () => {
    for (const text of [
      "Nobody between these 2 ends can decrypt 1 word of it 24 hours a day.",
      'Nobody "between" the "ends" can "decrypt" or "read" the "content".',
      "Nobody between the fast ends can quickly decrypt the fast content.",
    ]) {
      const { rationale, grounds, judgement } = explained(text);
      expect(grounds.spans.length).toBeGreaterThan(0);
      expect(rationale).not.toMatch(/\p{N}|fast|quick/u);
      expect(lintRationale(rationale, { spans: grounds.spans, features: judgement.feasible })).toEqual([]);
    }
  });

  it("explains why no other candidate was left", () => {
    expect(explained("", { only: ["ACP"] }).rationale).toContain("The file allows no other.");
    expect(explained("", { requires: ["cross-boundary"] }).rationale).toContain("The others cannot carry what is demanded.");
  });

  it("passes the linter, whatever decided", () => {
    const { judgement, grounds } = explained(SECRET);
    for (const decidedBy of ["constraints", "priority", "narrative", "ranking", "order", "nothing"] as const)
      for (const unfit of [[], judgement.unfit]) {
        const rationale = rationaleOf({ ...judgement, decidedBy, unfit }, grounds);
        expect(lintRationale(rationale, { spans: grounds.spans, features: [] })).toEqual([]);
        const bare = rationaleOf({ ...judgement, decidedBy, unfit }, { spans: [], needs: [] });
        expect(lintRationale(bare, { spans: [], features: [] })).toEqual([]);
      }
    for (const needs of [grounds.needs, []])
      expect(lintRationale(rationaleTogether(judgement, { ...grounds, needs }), { spans: grounds.spans, features: [] })).toEqual(
        [],
      );
  });
});

describe("rejectionsOf()", () => {
  it("has a reason against each other candidate, in order", () => {
    const { judgement, chosen } = explained(
      "Every berth is a resource that is created, read, updated and deleted at its own URL.",
    );
    const rejections = rejectionsOf(judgement, chosen);
    expect(rejections.map(({ protocol }) => protocol)).toEqual(["A2A", "Agora", "ANP"]);
    expect(rejections.find(({ protocol }) => protocol === "A2A")?.because).toBe("is less suited for resource operations");
  });

  it("names what the text avoids", () => {
    const { judgement, chosen } = explained("The two agents chat to and fro, question and answer, with follow-ups.");
    const evidence = judgement.evidence.map((each) => ({
      ...each,
      capability: "resource-operations" as const,
      share: 0.9,
      span: { ...each.span, stance: "avoided" as const },
    }));
    expect(rejectionsOf({ ...judgement, evidence }, chosen).find(({ protocol }) => protocol === "ACP")?.because).toBe(
      "brings resource operations, which the text avoids",
    );
  });

  it("has one for every candidate if none is selected", () => {
    const { judgement } = explained(SECRET);
    expect(rejectionsOf(judgement, undefined)).toHaveLength(4);
  });
});
