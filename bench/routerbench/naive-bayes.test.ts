import { describe, expect, it } from "vitest";
import { runBaseline } from "./baselines.js";
import type { Case } from "./case.js";
import { NaiveBayes, wordsOf } from "./naive-bayes.js";

/** Words drawn at random, some more often for their label. */
const ROWS: readonly (readonly [scenario: string, label: string, text: string])[] = [
  ["s0", "ANP", "key ticket job sign vote proof"],
  ["s1", "Agora", "vote reply job edition edition reply"],
  ["s1", "ACP", "job job edition archive batch vote"],
  ["s2", "ANP", "sign letter letter key batch seal"],
  ["s2", "ACP", "rule list turn page ticket page"],
  ["s2", "ACP", "sign proof archive batch turn list"],
  ["s3", "Agora", "batch vote archive ticket court batch"],
  ["s4", "ANP", "hand proof letter sign key seal"],
  ["s4", "Agora", "edition edition court proof list hand"],
  ["s5", "Agora", "sign rule rule rule vote court"],
  ["s5", "ANP", "talk reply court proof proof reply"],
  ["s5", "ACP", "job ticket ticket batch ticket letter"],
  ["s6", "A2A", "reply sign hand archive hand batch"],
  ["s7", "Agora", "ticket court archive seal vote talk"],
  ["s7", "ANP", "letter talk sign list seal seal"],
];
const PROTOCOLS = ["A2A", "ACP", "Agora", "ANP"] as const;

function casesOf(rows: typeof ROWS, file = "words.jsonl"): readonly Case[] {
  return [...new Set(rows.map(([id]) => id))].map((id) => {
    const modules = rows
      .filter(([scenario]) => scenario === id)
      .map(([, label, text], index) => ({ id: `${id}-M${index + 1}`, label, passages: [{ kind: "need" as const, text }] }));
    return { file, scenario: { id, description: "", modules }, modules };
  });
}

const chosenBy = (...args: Parameters<typeof runBaseline>): readonly (string | null)[] =>
  runBaseline(...args).map(({ chosen }) => chosen);

describe("runBaseline()", () => {
  it("matches scikit-learn's MultinomialNB, leaving out one scenario at a time", () => {
    expect(chosenBy("naive Bayes", casesOf(ROWS), { protocols: PROTOCOLS })).toEqual(
      "ACP Agora Agora ANP Agora Agora ACP ANP Agora ACP Agora Agora Agora Agora ANP".split(" "),
    );
  });

  it("matches scikit-learn's MultinomialNB when trained on other scenarios", () => {
    const [train, rest] = [casesOf(ROWS.slice(0, 6)), casesOf(ROWS.slice(6))];
    expect(chosenBy("naive Bayes", rest, { protocols: PROTOCOLS, train })).toEqual(
      "ACP ANP ACP ACP Agora ANP ACP ACP ANP".split(" "),
    );
  });

  it("uses the most frequent label of the other scenarios as majority, the first in order of equals", () => {
    // Counted in Python with collections.Counter.
    expect(chosenBy("majority", casesOf(ROWS), { protocols: PROTOCOLS })).toEqual(
      "Agora ANP ANP Agora Agora Agora ANP ACP ACP Agora Agora Agora Agora ACP ACP".split(" "),
    );
  });

  it("never learns from another file", () => {
    const [first, second] = [casesOf(ROWS.slice(0, 1), "a.jsonl"), casesOf(ROWS, "b.jsonl")];
    const [alone] = runBaseline("naive Bayes", [...first, ...second], { protocols: PROTOCOLS });
    // With its only scenario left out, nothing of its file remains.
    expect(alone).toMatchObject({ file: "a.jsonl", chosen: null, margin: null });
  });
});

describe("NaiveBayes", () => {
  it("unlearns exactly", () => {
    const bayes = new NaiveBayes();
    bayes.learn("ACP", ["page", "list"]);
    bayes.learn("ANP", ["seal", "seal", "page"]);
    bayes.forget("ANP", ["seal", "seal", "page"]);
    expect(bayes.choose(["seal", "seal"], PROTOCOLS)).toBe("ACP");
  });

  it("has no prediction before training", () => {
    expect(new NaiveBayes().choose(["page"], PROTOCOLS)).toBeUndefined();
  });
});

describe("wordsOf()", () => {
  it("tokenizes letters and digits of any script, in lower case", () => {
    expect(wordsOf("Über-Nacht, 3 jobs; été")).toEqual(["über", "nacht", "3", "jobs", "été"]);
  });
});
