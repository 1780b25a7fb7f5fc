import { describe, expect, test } from "vitest";
import { nameOfOrdered, orderedText } from "./ordered-text.js";

const UNITS = [0, 1, 2, 3, 0x41, 0x7f, 0xff, 0x1_00, 0xd7_ff, 0xd8_00, 0xdb_ff, 0xdc_00, 0xdf_ff, 0xe0_00, 0xe0_01, 0xff_ff];
const UNIT_TEXTS = UNITS.map((unit) => String.fromCharCode(unit));
const NAMES = ["", ...UNIT_TEXTS, ...UNIT_TEXTS.flatMap((a) => UNIT_TEXTS.map((b) => a + b)), "\u{1f600}x\0y"];
const bytes = (name: string) => Buffer.from(orderedText(name));

describe("orderedText()", () => {
  test("round-trips through UTF-8, without a NUL", () => {
    for (const name of NAMES) {
      expect(nameOfOrdered(bytes(name).toString())).toBe(name);
      expect(bytes(name).includes(0)).toBe(false);
    }
  });

  test("bytes have the order of code units", () => {
    const byBytes = [...NAMES].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
    expect(byBytes).toEqual([...NAMES].sort());
  });

  test("preserves prefixes in bytes", () => {
    for (const name of NAMES) {
      for (const prefix of NAMES) {
        const wanted = name.startsWith(prefix);
        const begins = bytes(name).subarray(0, bytes(prefix).length).equals(bytes(prefix));
        if (begins !== wanted) expect.fail(`${JSON.stringify(prefix)} of ${JSON.stringify(name)}`);
      }
    }
  });

  test("leaves ordinary names as they are", () => {
    expect(orderedText("a/Ünïcode-名前/1")).toBe("a/Ünïcode-名前/1");
  });
});
