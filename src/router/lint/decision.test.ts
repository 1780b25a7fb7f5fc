import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CAPABILITIES, type Features } from "../../protocols/features.js";
import type { Decision } from "../decision.js";
import { lintDecision } from "./decision.js";
import { isQuotable, lintRationale } from "./rationale.js";

function row(name: string, facts: readonly string[]): Features {
  const nothing = { orientation: [], lessSuited: [], inherent: [], support: {} };
  return {
    id: name.toLowerCase(),
    name,
    title: name,
    madeFor: "quiet tunnels",
    lessSuitedFor: "loud parades",
    facts,
    ...nothing,
  };
}

const FEATURES = [row("Alpha", ["letters travel in sealed tubes"]), row("Beta", ["a postman rings"])];
const TEXT = "Couriers prove who they are before the vault opens. We don't read the “sealed” 3rd drawer; ετικέτα 😀.";
const context = { input: ["Vault couriers", TEXT], features: FEATURES };

const FINE: Decision = {
  scenario_id: "S",
  module_id: "S-M1",
  selected_protocol: "Alpha",
  evidence_spans: ["prove who they are"],
  rationale: 'Needs verified identity ("prove who they are"); the others cannot carry it.',
  margin: 0.29,
  abstained: false,
  rejected: [{ protocol: "Beta", because: "cannot carry verified identity" }],
};

/** The problems of the fine decision with some members changed. */
const problemsOf = (change: Record<string, unknown>): string => lintDecision({ ...FINE, ...change }, context).join("\n");
const problemsIn = (rationale: string, spans: readonly string[] = FINE.evidence_spans): string =>
  lintRationale(rationale, { spans, features: FEATURES }).join("\n");

describe("lintDecision()", () => {
  it("finds nothing in a decision that keeps to the rules", () => {
    expect(lintDecision(FINE, context)).toEqual([]);
    expect(problemsOf({ prompt_sha256: "ab".repeat(32) })).toBe("");
    expect(problemsOf({ prompt_sha256: undefined })).toBe("");
    expect(
      problemsOf({ selected_protocol: null, abstained: true, evidence_spans: [], rationale: "Nothing in the text decides." }),
    ).toBe("");
  });

  for (const nothing of [undefined, null, "decision", 7, [FINE]])
    it(`takes no ${JSON.stringify(nothing)?.slice(0, 12)} for a decision`, () => {
      expect(lintDecision(nothing, context)).toEqual(["a decision is an object"]);
    });

  it("refuses members that are not on the list, and misses those that are", () => {
    expect(problemsOf({ confidence: 1 })).toContain('"confidence" is no member');
    for (const name of Object.keys(FINE)) {
      const { [name as keyof Decision]: _left, ...rest } = FINE;
      expect(lintDecision(rest, context)).toContain(`${name}: is missing`);
    }
  });

  const WRONG: Readonly<Record<string, readonly [Record<string, unknown>, string]>> = {
    "an id that is a number": [{ module_id: 1 }, "module_id"],
    "an empty id": [{ scenario_id: "" }, "scenario_id"],
    "a protocol that takes no part": [{ selected_protocol: "Gamma" }, 'selected_protocol: "Gamma"'],
    "another spelling of a protocol": [{ selected_protocol: "alpha" }, "selected_protocol"],
    "null without abstaining": [{ selected_protocol: null }, "selected_protocol: is null"],
    "a word for a truth": [{ abstained: "no" }, "abstained"],
    "a margin above one": [{ margin: 1.01 }, "margin"],
    "a margin below zero": [{ margin: -0.01 }, "margin"],
    "a margin that is no number": [{ margin: Number.NaN }, "margin"],
    "a margin finer than hundredths": [{ margin: 0.291 }, "margin: must be in hundredths"],
    "spans that are no list": [{ evidence_spans: "prove" }, "evidence_spans"],
    "a blank span": [{ evidence_spans: [" "] }, "evidence_spans[0]"],
    "a span with other white space": [{ evidence_spans: ["prove  who they are"] }, "character for character"],
    "a span in other letters": [{ evidence_spans: ["Prove who they are"] }, "character for character"],
    "a span with other quotes": [{ evidence_spans: ['"sealed"'] }, "character for character"],
    "a span over two texts": [{ evidence_spans: ["couriersCouriers"] }, "character for character"],
    "a span from nowhere": [{ evidence_spans: ["tamper-proof"] }, "character for character"],
    "half a character": [{ evidence_spans: ["\ud83d"] }, "character for character"],
    "a span twice": [{ evidence_spans: ["vault", "vault"] }, "is there twice"],
    "too many spans": [{ evidence_spans: [...TEXT].slice(0, 33) }, "more than 32"],
    "a rationale that is no string": [{ rationale: ["needs"] }, "rationale: must be a string"],
    "rejections that are no list": [{ rejected: {} }, "rejected: must be a list"],
    "a rejection with a figure": [{ rejected: [{ protocol: "Beta", because: "carries only 2" }] }, "because: contains a digit"],
    "a rejection for its speed": [{ rejected: [{ protocol: "Beta", because: "it is slower" }] }, 'performance: "slower"'],
    "a rejection with more to say": [{ rejected: [{ protocol: "Beta", because: "no", score: 1 }] }, '"score"'],
    "a rejection of the selected": [{ rejected: [{ protocol: "Alpha", because: "no" }] }, "is selected"],
    "a rejection of nobody": [{ rejected: [{ protocol: "Gamma", because: "no" }] }, "rejected[0].protocol"],
    "a hash that is none": [{ prompt_sha256: "AB".repeat(32) }, "prompt_sha256"],
  };
  for (const [name, [change, expected]] of Object.entries(WRONG))
    it(`refuses ${name}`, () => {
      expect(problemsOf(change)).toContain(expected);
    });

  for (const span of ["Vault", "“sealed”", "don't", "3rd drawer", "ετικέτα 😀"])
    it(`takes ${span}, which stands there`, () => {
      expect(problemsOf({ evidence_spans: [span], rationale: "Nothing decides." })).toBe("");
    });

  it("never throws, whatever the input", () => {
    const anyMember = fc.dictionary(fc.constantFrom(...Object.keys(FINE), "other"), fc.jsonValue());
    fc.assert(fc.property(fc.jsonValue(), (value) => lintDecision(value, context).length > 0));
    fc.assert(fc.property(anyMember, (change) => Array.isArray(lintDecision({ ...FINE, ...change }, context))));
  });

  it("truncates untrusted text", () => {
    const problems = problemsOf({ evidence_spans: ["x".repeat(100_000)], ["y".repeat(100_000)]: 1 });
    expect(problems).toContain("xxx");
    expect(problems.length).toBeLessThan(500);
  });
});

describe("lintRationale()", () => {
  const FAIR: readonly (readonly [string, readonly string[]])[] = [
    [
      'Needs verified identity ("prove who they are") and end-to-end secrecy; the others cannot carry end-to-end secrecy.',
      ["prove who they are"],
    ],
    [
      'Needs governed routine ("the edition we agreed on"); made for it. Ties were broken by the phrase that stands first.',
      ["the edition we agreed on"],
    ],
    ["Nothing in the text decides.", []],
    ["The module’s text asks for “don't read” – only ‘sealed’ tubes suit the parties' needs.", ["don't read", "sealed"]],
    ["Chosen because it carries resumable bulk transfers; quiet tunnels are required.", []],
    ['It mentions "say "please" now", which means turn-taking.', ["please", 'say "please" now']],
  ];
  for (const [rationale, spans] of FAIR)
    it(`takes: ${rationale}`, () => {
      expect(lintRationale(rationale, { spans, features: FEATURES })).toEqual([]);
    });

  it("accepts every capability by its label", () => {
    for (const { label } of CAPABILITIES) expect(problemsIn(`Needs ${label}.`)).toBe("");
  });

  for (const digit of [
    "Needs 2 parties.",
    "Needs ٣ parties.",
    "Needs parties².",
    "Needs ½.",
    "Needs Ⅳ.",
    "Needs 7.",
    "A2A carries it.",
  ])
    it(`sees the digit in: ${digit}`, () => {
      expect(problemsIn(digit)).toContain("contains a digit");
    });

  it("accepts numbers in words", () => {
    expect(problemsIn("Needs one session for two parties.")).toBe("");
  });

  const CLAIMS = [
    "It has low latency.",
    "LATENCIES matter.",
    "High-throughput streaming.",
    "It is faster.",
    "The fastest of all.",
    "It is slower.",
    "It speeds up.",
    "Better performance.",
    "A performant session.",
    "It outperforms the others.",
    "It won the benchmarks.",
    "Within milliseconds.",
    "Many messages per second.",
    "A high success rate.",
    "Many per cent.",
    "Ninety percent.",
    "Less overhead.",
    "An efficient session.",
    "It carries them efficiently.",
    "Greater efficiency.",
    "ｆａｓｔｅｒ streaming.",
  ];
  for (const claim of CLAIMS)
    it(`sees the claim in: ${claim}`, () => {
      expect(problemsIn(claim)).toContain("claims something about performance");
    });

  it("does not read other words as claims", () => {
    const innocent = "Needs breakfast, a second steadfast fasting speedwell, mss, overheard";
    expect(problemsIn(`${innocent}.`, [innocent])).toBe("");
  });

  it("sees digits and claims in quotations, too", () => {
    expect(problemsIn('Needs streaming ("in 3 seconds").', ["in 3 seconds"])).toMatch(/digit[\s\S]*performance/);
  });

  const INVENTED = [
    ["It uses a blockchain.", "blockchain"],
    ["Carries quantum-safe secrecy.", "quantum"],
    ["Offers auto-scaling.", "auto"],
    ["Offers zero-knowledge identity.", "zero"],
    ["Needs sharding of sessions.", "sharding"],
    ["Self-healing streaming.", "healing"],
    ["Needs homomorphic secrecy.", "homomorphic"],
    ["Load-balanced requests.", "balanced"],
    ["Alpha carries streaming.", "Alpha"],
    ["Needs strеaming.", "strеaming"], // with a Cyrillic letter
  ] as const;
  for (const [rationale, word] of INVENTED)
    it(`does not know what is meant by: ${rationale}`, () => {
      expect(problemsIn(rationale)).toMatch(new RegExp(`names what neither .*"${word}"`));
    });

  const MISQUOTED = [
    'Needs "proof of who they are".',
    "Needs “prove who”.",
    "Needs 'prove who they'.",
    "Needs ‘who they are’.",
    "Needs «who they are».",
    'Needs "prove who they are and streaming.',
    'Needs "prove  who they are".',
  ];
  for (const rationale of MISQUOTED)
    it(`finds no span in: ${rationale}`, () => {
      expect(problemsIn(rationale)).toContain("which is none of the evidence spans");
    });

  for (const odd of ["Needs streaming \u001b[2J.", "Needs streaming → secrecy.", "Needs streaming 🚀.", "Needs\nstreaming."])
    it(`refuses what is no sentence: ${JSON.stringify(odd)}`, () => {
      expect(problemsIn(odd)).toContain("neither a letter nor punctuation");
    });

  it("refuses one that is empty or too long", () => {
    expect(problemsIn(" ")).toContain("is empty");
    expect(problemsIn("needs ".repeat(166))).toBe("");
    expect(problemsIn("needs ".repeat(167))).toBe("rationale: has more than 1000 characters");
  });
});

describe("isQuotable()", () => {
  it("lists the evidence a rationale may quote", () => {
    expect(isQuotable("prove who they're")).toBe(true);
    for (const span of ["in 3 days", "low latency", 'the "old" way', "two\nlines"]) expect(isQuotable(span)).toBe(false);
  });
});
