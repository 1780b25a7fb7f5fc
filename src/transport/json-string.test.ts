import { expect, test } from "vitest";
import { jsonCharacters, jsonString } from "./json-string.js";

test("every UTF-16 unit, alone and between others, is written as JSON.stringify writes it", () => {
  for (let unit = 0; unit <= 0xffff; unit++) {
    const text = String.fromCharCode(unit);
    if (jsonString(text) !== JSON.stringify(text)) expect(jsonString(text)).toBe(JSON.stringify(text));
    const within = `é ${text} →`;
    if (jsonString(within) !== JSON.stringify(within)) expect(jsonString(within)).toBe(JSON.stringify(within));
  }
  expect(jsonString("")).toBe('""');
  expect([jsonCharacters('a"\n'), jsonCharacters("a😀b"), jsonCharacters("")]).toEqual(['a\\"\\n', "a😀b", ""]);
  expect(jsonString("a😀b")).toBe('"a😀b"');
});
