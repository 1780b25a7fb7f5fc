import { describe, expect, it } from "vitest";
import { canonicalJson, hasDuplicateMembers } from "./json-canonical.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function double(hex: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
}

describe("canonical JSON", () => {
  it("writes the example of RFC 8785 §3.2.2 as the bytes of §3.2.4", () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    const expected =
      "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e333333333333332c" +
      "31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d";
    expect(Buffer.from(canonicalJson(JSON.parse(text)), "utf8").toString("hex")).toBe(expected);
  });

  it("sorts as RFC 8785 §3.2.3 does, by code units", () => {
    const text = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
      "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`;
    const order = [...canonicalJson(JSON.parse(text)).matchAll(/:"([^"]*)"/g)].map(([, value]) => value);
    expect(order).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the number %s of RFC 8785 appendix B as %s", (hex, expected) => {
    expect(canonicalJson(double(hex))).toBe(expected);
  });

  it.each([
    ["not a number", double("7fffffffffffffff")],
    ["infinity", double("7ff0000000000000")],
    ["undefined", undefined],
    ["a member that is undefined", { a: undefined }],
    ["a hole in a list", [undefined]],
    ["half of a surrogate pair", "\ud800"],
    ["half of a pair in a name", { "\udead": 1 }],
    ["a function", () => 1],
    ["a bigint", 1n],
  ])("refuses %s", (_, value) => {
    expect(() => canonicalJson(value)).toThrow("has no canonical JSON form");
  });

  it("treats __proto__ as a plain member", () => {
    expect(canonicalJson(JSON.parse('{"z":1,"__proto__":{"b":2}}'))).toBe('{"__proto__":{"b":2},"z":1}');
  });
});

describe("duplicate members", () => {
  it.each([
    ['{"a":1,"a":2}', true],
    ['{"a":1,"b":{"c":1,"c":1}}', true],
    ['[{"x":[{"y":1 , "y" :1}]}]', true],
    [String.raw`{"a":1,"\u0061":2}`, true],
    [String.raw`{"a\"":1,"a\"":2}`, true],
    ['{"a":{"a":{"a":1}},"b":["a","a"]}', false],
    ['{"a":"a","b":"a"}', false],
    ['[{"a":1},{"a":1}]', false],
    [String.raw`{"a":"\",\"a\":1","b":1}`, false],
    ['{"a":"{\\"b\\":1,\\"b\\":1}"}', false],
    ['"text"', false],
  ])("%s: %s", (text, twice) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(hasDuplicateMembers(bytes(text))).toBe(twice);
  });
});
