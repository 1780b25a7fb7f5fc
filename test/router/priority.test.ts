import { describe, expect, it } from "vitest";
import { defaultCandidates, judge, PRIORITY, type Tier } from "../../src/router/index.js";
import { decide, decideText, moduleSaying, scenarioOf } from "./scenarios.js";

/** One clear need of each tier, and the protocol it supports. */
const NEEDS: { readonly [tier in Tier]: readonly (readonly [text: string, protocol: string])[] } = {
  identity: [
    ["No relay or operator between the two ends may be able to decrypt the content.", "ANP"],
    ["Each party proves its identity with its own keys, and impostors are turned away.", "ANP"],
  ],
  operations: [
    ["Every berth is a resource with its own URL that is created, read, updated and deleted by web requests.", "ACP"],
    ["Everybody follows the same written procedure in the agreed version, step by step.", "Agora"],
  ],
  interaction: [
    ["The two agents chat to and fro, question and answer, with follow-ups.", "A2A"],
    ["The same update goes out to hundreds of listeners at once.", "A2A"],
  ],
};

describe("two needs at once", () => {
  for (const [index, higher] of PRIORITY.entries())
    for (const lower of PRIORITY.slice(index + 1))
      for (const [strong, winner] of NEEDS[higher])
        for (const [weak] of NEEDS[lower])
          for (const text of [`${strong} ${weak}`, `${weak} ${strong}`])
            it(`${higher} goes before ${lower}: ${text}`, async () => {
              expect((await decideText(text)).selected_protocol).toBe(winner);
            });

  it("are ordered by the settings if these order the tiers differently", async () => {
    const [[weak] = [""]] = NEEDS.interaction;
    const [[strong] = [""]] = NEEDS.operations;
    const text = `${strong} ${weak}`;
    expect((await decideText(text)).selected_protocol).toBe("ACP");
    expect((await decideText(text, { priority: ["interaction", "operations", "identity"] })).selected_protocol).toBe("A2A");
  });

  it("in structured fields follow the same order", async () => {
    const module = moduleSaying("", { requires: ["turn-taking", "routine-governance"] });
    expect((await decide(module)).selected_protocol).toBe("Agora");
    expect((await decide(module, { priority: ["interaction", "identity", "operations"] })).selected_protocol).toBe("A2A");
  });

  it("never override a hard constraint", async () => {
    const module = moduleSaying("", { requires: ["turn-taking", "end-to-end-secrecy"] });
    expect((await decide(module, { priority: ["interaction", "operations", "identity"] })).selected_protocol).toBe("ANP");
  });
});

const RESOURCES = [
  "Berths are resources that are listed, fetched and updated at their own URLs.",
  "Every berth has a web address where it can be read, changed and removed.",
  "A retried booking must not be booked twice.",
  "Fifty thousand tide readings are loaded in one batch every night.",
  "Cargo lists of many gigabytes are uploaded in chunks that can be resumed.",
  "When the crane is swamped it slows the senders down.",
  "Create, read, update and delete are all a berth needs.",
];
const RULES = [
  "Pilots follow the written procedure in its current version.",
  "Three of five wardens have to vote for it.",
  "The agents agree among themselves on the protocol they will speak.",
  "The rulebook, edition four, is followed to the letter.",
  "A quorum of the owners decides by ballot.",
  "All ports keep to the same documented routine.",
  "A dispute goes to arbitration under fixed rules.",
];

describe("needs of one tier that are equally strong", () => {
  const judged = (text: string) => {
    const module = moduleSaying(text);
    return judge(scenarioOf(module), module);
  };
  const pairs = RESOURCES.flatMap((one) => RULES.map((other) => [one, other] as const));
  const ties = pairs.filter(
    ([one, other]) => judged(`${one} ${other}`).decidedBy === "narrative" && judged(`${other} ${one}`).decidedBy === "narrative",
  );

  it("exist among these", () => {
    expect(ties.length).toBeGreaterThan(0);
  });

  it("are decided by their order: swapping the sentences swaps the winner", () => {
    expect(ties.filter(([one, other]) => judged(`${one} ${other}`).chosen?.name !== "ACP")).toEqual([]);
    expect(ties.filter(([one, other]) => judged(`${other} ${one}`).chosen?.name !== "Agora")).toEqual([]);
  });

  it("are not decided by their order if that is switched off", () => {
    for (const [one, other] of ties) {
      const module = moduleSaying(`${other} ${one}`);
      expect(judge(scenarioOf(module), module, { without: ["narrative"] }).chosen?.name).toBe("ACP");
    }
  });
});

describe("the tie break after the order of sentences", () => {
  const TIE = moduleSaying("", { requires: ["resource-operations", "routine-governance"] });

  it("is a fixed order, the same every time", async () => {
    expect(await decide(TIE)).toMatchObject({ selected_protocol: "ACP", margin: 0 });
    expect((await decide(TIE)).rationale).toContain("order of last resort");
  });

  it("follows the order of the candidates", async () => {
    const candidates = [...defaultCandidates()].reverse();
    expect((await decide(TIE, { candidates })).selected_protocol).toBe("Agora");
  });

  it("is a ranking, if there is one, in any spelling of the names", async () => {
    const decision = await decide(TIE, { ranking: ["agora", "ACP"] });
    expect(decision).toMatchObject({ selected_protocol: "Agora", margin: 0 });
    expect(decision.rationale).toContain("ranking");
  });

  it("does not use a ranking if there is no tie", async () => {
    const [[text, winner] = ["", ""]] = NEEDS.identity;
    for (const ranking of [["A2A"], ["ACP"], ["Agora"], ["Agora", "ACP", "A2A", "ANP"]])
      expect((await decideText(text, { ranking })).selected_protocol).toBe(winner);
  });

  it("never lets an infeasible protocol win", async () => {
    const barred = { ...TIE, never: ["Agora"] };
    expect((await decide(barred, { ranking: ["Agora", "A2A"] })).selected_protocol).toBe("ACP");
    const neither = await decide({ ...TIE, never: ["Agora", "ACP"] }, { ranking: ["Agora", "ACP"] });
    expect(["ACP", "Agora"]).not.toContain(neither.selected_protocol);
  });
});
