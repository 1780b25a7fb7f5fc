import { describe, expect, it } from "vitest";
import { lemmaOf } from "./lemma.js";

/** Forms of one word, which have to meet. */
const MEET = [
  "vote votes voted voting",
  "stop stops stopped stopping",
  "sign signs signed signing",
  "carry carries carried carrying",
  "write writes wrote written writing",
  "policy policies",
  "batch batches batched",
  "patient patients patient's",
  "fill fills filled filling",
  "prove proves proved proven proving",
  "hold holds held holding",
  "stream streams streamed streaming",
];
/** Words of their own, which must not. */
const PART = ["sign sing", "address dress", "status state", "need knee", "thing think", "bus but"];

describe("lemmaOf()", () => {
  for (const forms of MEET)
    it(`is one for ${forms}`, () => {
      expect(new Set(forms.split(" ").map(lemmaOf)).size).toBe(1);
    });

  for (const word of ["a", "s", "ing", "ed", "es", "king", "red", "1", "ss"])
    it(`leaves something of ${word}`, () => {
      expect(lemmaOf(word)).not.toBe("");
    });

  for (const words of PART)
    it(`parts ${words}`, () => {
      expect(new Set(words.split(" ").map(lemmaOf)).size).toBe(2);
    });
});
