import { describe, expect, it } from "vitest";
import { CAPABILITIES } from "../../protocols/features.js";
import { wordsOf } from "../text/words.js";
import { mapSpansToCapabilities } from "./capabilities.js";
import { extractEvidenceSpans } from "./extract.js";
import { subjects } from "./marks.js";
import { readWords } from "./prototypes.js";
import { READINGS } from "./readings.js";
import { exp, shares } from "./shares.js";
import { windowOf } from "./window.js";

const ALL = { phrases: true, stance: true };

describe("shares()", () => {
  it("approximates the exponential, and is never below zero", () => {
    for (const x of [0, -0.5, -1, -3, -8]) expect(Math.abs(exp(x) - Math.exp(x))).toBeLessThan(0.001);
    expect(exp(-1e9)).toBeGreaterThanOrEqual(0);
    expect(exp(Number.NEGATIVE_INFINITY)).toBeLessThan(1e-9);
  });

  it("sums to one and keeps the order", () => {
    const [low = 0, high = 0, middle = 0] = shares([-2, 3, 1]);
    expect(low + high + middle).toBeCloseTo(1, 12);
    expect(low < middle && middle < high).toBe(true);
  });
});

describe("subjects()", () => {
  const marksIn = (text: string): readonly string[] => subjects(wordsOf(text)).map(({ mark }) => mark);

  it("has each mark once, however often it occurs", () => {
    const marks = marksIn("seal seal seal seal");
    expect(marks).toEqual([...new Set(marks)]);
    expect(marks).toContain("seal seal");
  });

  it("counts function words only next to another word", () => {
    expect(marksIn("the of")).toEqual(["the of"]);
  });
});

describe("readWords()", () => {
  it("has a reading for each capability, and one for nothing of the kind", () => {
    expect(READINGS).toEqual([...CAPABILITIES.filter((each) => !("named" in each)).map(({ id }) => id), "none"]);
  });

  for (const text of ["", "zzyzx qwrtp", "Rain falls on the quiet hills."])
    it(`takes ${JSON.stringify(text)} for nothing of the kind`, () => {
      const { shares: found } = readWords(wordsOf(text), ALL);
      expect(found.indexOf(Math.max(...found))).toBe(READINGS.indexOf("none"));
      expect(found.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    });

  it("reports the words that contribute to a reading", () => {
    const words = wordsOf("On Tuesdays the content is encrypted end to end.");
    const spoken = readWords(words, ALL).wordsFor(READINGS.indexOf("end-to-end-secrecy"));
    const strongest = words[spoken.indexOf(Math.max(...spoken))]?.text;
    expect(["encrypted", "end", "content"]).toContain(strongest);
  });
});

describe("windowOf()", () => {
  const spanOf = (text: string) => {
    const module = { id: "m", passages: [{ kind: "need", text }] as const };
    const [span] = extractEvidenceSpans({ id: "s", description: "", modules: [module] }, module, { stance: true, locks: true });
    if (span === undefined) throw new Error("the text has a span");
    return span;
  };
  const weigh = (text: string, heavy: string): string => {
    const span = spanOf(text);
    return windowOf(
      span,
      Float64Array.from(span.words, ({ text: word }) => (heavy.split(" ").includes(word) ? 1 : -1)),
    );
  };

  it("is the clause with the most weight, verbatim", () => {
    const text = "One day, perhaps,  the keepers “sign” their own log and rest.";
    expect(weigh(text, "sign their own log")).toBe("the keepers “sign” their own log and rest");
  });

  it("begins and ends with clauses, and has those beside it that say something", () => {
    const text = "If something is unclear, it asks back, and the talk goes on until both are content.";
    expect(weigh(text, "is it asks back and the talk goes")).toBe("it asks back, and the talk goes on");
    expect(weigh(text, "the talk goes on")).toBe("the talk goes on");
    expect(weigh(text, "it asks back")).toBe("it asks back");
  });

  it("begins or ends with a long clause where it can, and with no function word otherwise", () => {
    const long =
      "The curator of the northern hall who keeps the keys and lists signs letters before the doors open to guests on Friday morning";
    expect(weigh(long, "the curator of northern hall")).toMatch(/^The curator of the northern hall/);
    expect(weigh(long, "guests on friday morning")).toMatch(/guests on Friday morning$/);
    expect(weigh(long, "and lists signs letters")).toBe("lists signs letters");
  });

  it("has at most fourteen words, or twenty where a clause cannot be divided", () => {
    expect(weigh("Alpha beta gamma delta.", "beta").split(" ")).toHaveLength(4);
    const most = "a b c d e f g h i j k l m n o p q r s t";
    expect(weigh(most, most)).toBe(most);
    expect(weigh(`${most} u`, most).split(" ")).toHaveLength(14);
    expect(weigh("Alpha beta.", "alpha").length).toBeGreaterThan(0);
  });

  it("does not span words with another stance", () => {
    const text = "They sign letters rather than parcels, but they stamp the forms.";
    expect(weigh(text, "sign letters they stamp the forms")).not.toContain("parcels");
  });

  it("does not split a surrogate pair", () => {
    const quote = weigh("Keepers sign every\ud83d log they write.", "keepers sign every log they write");
    expect(quote).not.toMatch(/\p{Surrogate}/u);
    expect(quote).not.toBe("");
  });
});

describe("mapSpansToCapabilities()", () => {
  const module = {
    id: "m",
    passages: [{ kind: "need", text: "The content is encrypted from end to end for both of them." }] as const,
  };
  const spans = extractEvidenceSpans({ id: "s", description: "", modules: [module] }, module, { stance: true, locks: true });
  const strongestOf = (readings?: ReadonlyMap<(typeof spans)[number], Float64Array>): string | undefined =>
    [...mapSpansToCapabilities(spans, { ...ALL, readings })].sort((a, b) => b.share - a.share)[0]?.capability;

  it("reports the subject of a span, with a verbatim quotation", () => {
    const [found] = [...mapSpansToCapabilities(spans, ALL)].sort((a, b) => b.share - a.share);
    expect(found?.capability).toBe("end-to-end-secrecy");
    expect(module.passages[0].text).toContain(found?.quote());
  });

  it("uses a reading by embeddings", () => {
    const other = new Float64Array(READINGS.length);
    other[READINGS.indexOf("fan-out")] = 2;
    expect(strongestOf(new Map(spans.map((span) => [span, other])))).toBe("fan-out");
  });
});
