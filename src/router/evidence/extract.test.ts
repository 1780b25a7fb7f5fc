import { describe, expect, it } from "vitest";
import type { Module, Scenario } from "../scenario.js";
import { extractEvidenceSpans, type Span } from "./extract.js";

const ON = { stance: true, locks: true };
const wordsIn = ({ words }: Span): string => words.map(({ text }) => text).join(" ");

function spansOf(module: Partial<Module>, scenario: Partial<Scenario> = {}, on = ON): readonly Span[] {
  const own = { id: "m", passages: [], ...module };
  return extractEvidenceSpans({ id: "s", description: "", modules: [own], ...scenario }, own, on);
}
const OTHER: Module = { id: "other", passages: [{ kind: "need", text: "Foreign words." }] };

describe("extractEvidenceSpans()", () => {
  it("reads the module's passages in their order, sentence by sentence", () => {
    const spans = spansOf({
      passages: [
        { kind: "name", text: "The title" },
        { kind: "need", text: "First thing. Second thing." },
        { kind: "risk", text: "A danger" },
      ],
    });
    expect(spans.map(wordsIn)).toEqual(["the title", "first thing", "second thing", "a danger"]);
    expect(spans.map(({ kind }) => kind)).toEqual(["name", "need", "need", "risk"]);
    expect(spans.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
    expect(new Set(spans.map(({ source }) => source))).toEqual(new Set(["module"]));
  });

  it("splits words of one sentence with different stances", () => {
    const spans = spansOf({ passages: [{ kind: "need", text: "They sign letters rather than parcels." }] });
    expect(spans.map((span) => [span.stance, wordsIn(span)])).toEqual([
      ["wanted", "they sign letters"],
      ["avoided", "rather than parcels"],
    ]);
  });

  it("minds no stance where that is switched off", () => {
    const passages = [{ kind: "need", text: "They sign letters rather than parcels." }] as const;
    const spans = spansOf({ passages }, {}, { stance: false, locks: true });
    expect(spans.map((span) => [span.stance, wordsIn(span)])).toEqual([["wanted", "they sign letters rather than parcels"]]);
  });

  it("ignores requirements of the file with locks switched off, and avoids what it excludes", () => {
    const passages = [
      { kind: "must", text: "Ring the bell" },
      { kind: "mustNot", text: "Knock on the door" },
    ] as const;
    expect(spansOf({ passages }).map(({ kind, stance }) => [kind, stance])).toEqual([
      ["must", "wanted"],
      ["mustNot", "avoided"],
    ]);
    expect(spansOf({ passages }, {}, { stance: true, locks: false })).toEqual([]);
  });

  const SHARED = "The gardeners dig. All modules whisper. Nobody may peek throughout.";

  it("reads the whole description for one module, and only statements about all for several", () => {
    const own: Module = { id: "m", passages: [] };
    const alone = spansOf(own, { description: SHARED, modules: [own] });
    const among = spansOf(own, { description: SHARED, modules: [own, OTHER] });
    expect(alone.map(wordsIn)).toEqual(["the gardeners dig", "all modules whisper", "nobody may peek throughout"]);
    expect(among.map(wordsIn)).toEqual(["all modules whisper", "nobody may peek throughout"]);
    expect(among.map(({ source }) => source)).toEqual(["description", "description"]);
    expect(Math.max(...among.map(({ trust }) => trust))).toBeLessThan(1);
  });

  it("reads nothing of another module", () => {
    const own: Module = { id: "m", passages: [{ kind: "need", text: "Own words." }] };
    expect(spansOf(own, { modules: [OTHER, own, OTHER] }).map(wordsIn)).toEqual(["own words"]);
  });
});
