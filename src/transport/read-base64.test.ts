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
