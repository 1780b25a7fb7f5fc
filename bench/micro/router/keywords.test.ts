import { expect, test } from "vitest";
import { byKeywords } from "./keywords.js";

test.each([
  ["The committee has to vote before the edition changes.", "Agora"],
  ["Upload each record, and retry the batch.", "ACP"],
  ["Nothing of the kind.", "A2A"],
])("counts keywords: %s", (text, protocol) => {
  expect(byKeywords(text)).toBe(protocol);
});
