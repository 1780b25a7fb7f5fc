import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeBase64 } from "../envelope/index.js";
import { readBase64 } from "./read-base64.js";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("encodeBase64", () => {
  // RFC 4648 §10
  test.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ])("writes %j as %j", (text, want) => {
    expect(encodeBase64(utf8(text))).toBe(want);
  });
});

describe("readBase64", () => {
  test.each([
    ["-_-_", [251, 255, 191]],
    ["+/+/", [251, 255, 191]],
    ["Zm8", [102, 111]],
    ["Zg", [102]],
    ["Zg==", [102]],
    ["", []],
  ])("reads %j: standard, URL-safe, padded and not", (text, want) => {
    expect([...readBase64(text, "raw")]).toEqual(want);
  });

  test.each(["Z", "Zg=", "Zg===", "Z g=", "Zm9v!", "=", "Zm\u0141v", "Zm9v\n", 7, null, {}])("refuses %j", (value) => {
    expect(() => readBase64(value, "parts[0].raw")).toThrow(/^parts\[0\]\.raw /);
  });

  const long = Buffer.alloc(9_000, "platform").toString("base64");
  test.each([
    ["another character", `${long.slice(0, 6_000)}!${long.slice(6_001)}`, 6_000],
    ["a character whose low byte is a letter", `${long.slice(0, 6_000)}\u0141${long.slice(6_001)}`, 6_000],
    ["padding inside", `${long.slice(0, 6_000)}=${long.slice(6_001)}`, 6_000],
    ["a line break", `${long.slice(0, 6_000)}\n${long.slice(6_001)}`, 6_000],
  ])("refuses a long text with %s", (_, text, at) => {
    expect(() => readBase64(text, "raw")).toThrow(`raw is not base64 (at character ${at})`);
  });

  test("reads a long text: standard, URL-safe, padded and not", () => {
    const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => index * 7);
    for (const text of [Buffer.from(bytes).toString("base64"), Buffer.from(bytes).toString("base64url")]) {
      const read = readBase64(text, "raw");
      expect(read).toEqual(bytes);
      expect(read.constructor).toBe(Uint8Array);
    }
  });

  test("agrees with the platform on any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const want = Buffer.from(bytes).toString("base64");
        expect(encodeBase64(bytes)).toBe(want);
        expect([...readBase64(want, "raw")]).toEqual([...bytes]);
        expect([...readBase64(Buffer.from(bytes).toString("base64url"), "raw")]).toEqual([...bytes]);
      }),
    );
  });
});
