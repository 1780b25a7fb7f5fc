import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64 } from "./base64.js";
import { dataPart, textOf, textPart } from "./part.js";
import { partBytes } from "./part-bytes.js";

describe("textOf()", () => {
  test("joins text parts by lines and skips the rest", () => {
    expect(textOf([textPart("a"), dataPart({ text: "no" }), textPart("b")])).toBe("a\nb");
    expect(textOf([textPart("alone")])).toBe("alone");
    expect(textOf([dataPart("x")])).toBe("");
    expect(textOf([])).toBe("");
  });
});

describe("partBytes()", () => {
  test("counts UTF-8 bytes", () => {
    expect(partBytes(textPart("aé€🎉"))).toBe(1 + 2 + 3 + 4);
    expect(partBytes(textPart("\ud83c"))).toBe(3); // a lone half becomes U+FFFD
    expect(partBytes(textPart("\ud83ca"))).toBe(4);
    expect(partBytes(dataPart({ q: "é" }))).toBe('{"q":"'.length + 2 + '"}'.length);
    expect(partBytes({ kind: "raw", bytes: new Uint8Array(5) })).toBe(5);
    expect(partBytes({ kind: "url", url: "https://é.example" })).toBe(18);
  });
});

describe("base64", () => {
  // RFC 4648 §10
  for (const [text, base64] of [
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ] as const)
    test(`"${text}" is "${base64}"`, () => {
      const bytes = new TextEncoder().encode(text);
      expect(encodeBase64(bytes)).toBe(base64);
      expect(decodeBase64(base64)).toEqual(bytes);
    });

  test("refuses non-canonical spellings", () => {
    for (const text of ["Zg", "Zg=", "Zh==", "Zm9v\n", " Zm9v", "Zm-_", "Z", "é"]) expect(decodeBase64(text)).toBeUndefined();
  });

  test("accepts a megabyte", () => {
    const bytes = new Uint8Array(1_000_001).fill(0xfb);
    const back = decodeBase64(encodeBase64(bytes));
    expect(back?.length).toBe(1_000_001);
    expect(back?.every((byte) => byte === 0xfb)).toBe(true);
  });
});
