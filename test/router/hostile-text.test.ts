import { describe, expect, it } from "vitest";
import { defaultCandidates, lintDecision } from "../../src/router/index.js";
import { HOSTILE, SIZE } from "./hostile-texts.js";
import { decideText } from "./scenarios.js";

/** How long it takes: `test/full/hostile-text.test.ts`. */
describe("a text of 100 kB", () => {
  for (const [what, textOf] of Object.entries(HOSTILE))
    it(`gets a decision that passes the linter: ${what}`, async () => {
      const text = textOf(SIZE);
      const decision = await decideText(text);
      expect(lintDecision(decision, { input: [text], features: defaultCandidates() })).toEqual([]);
      expect(JSON.stringify(decision)).not.toMatch(/\p{Surrogate}|\\ud[89a-f]/u);
    });
});
