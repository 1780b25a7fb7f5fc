import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { NestedJson, readJson, readJsonText, scanJson } from "./json.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const upTo = (jsonDepth: number, jsonValues = 100) => ({ jsonDepth, jsonValues });
const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    return AgentError.from(thrown).code;
  }
  return "nothing was thrown";
};

describe("scanJson", () => {
  test.each([
    ["1", 0, false],
    ["[]", 1, false],
    ['{"a":[{"b":1}]}', 3, false],
    ['"[[[{{{"', 0, false],
    ['["a\\"[[[","\\\\",[1]]', 2, false],
    [`["${"x".repeat(40)}\\\\\\"[[[[${"y".repeat(40)}",[1]]`, 2, false],
    [`["${"x".repeat(40)}\\\\",[1]]`, 2, false],
    ["123456789012345", 0, false],
    ["1234567890123456", 0, true],
    ['"1234567890123456"', 0, false],
    [`{"${"9".repeat(60)}":1}`, 1, false],
  ])("%s is %i deep", (text, depth, longNumber) => {
    expect(scanJson(bytes(text))).toMatchObject({ depth, longNumber });
  });

  test("an unfinished string ends the scan", () => {
    expect(scanJson(bytes('["abc')).depth).toBe(1);
    expect(scanJson(bytes(`["${"a".repeat(100)}\\`)).depth).toBe(1);
  });

  test("finds the depth a walk over the parsed value finds", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(scanJson(bytes(JSON.stringify(value))).depth).toBe(depthOf(value));
      }),
    );
  });
});

describe("readJson", () => {
  test("counts values before parsing: commas, colons and opening brackets outside strings", () => {
    expect(scanJson(bytes('{"a":[{},{},"[,:[,"],"b":1}')).values).toBe(9);
    expect(readJson(bytes("[{},{},{}]"), upTo(4, 6))).toEqual([{}, {}, {}]);
    expect(codeOf(() => readJson(bytes("[{},{},{}]"), upTo(4, 5)))).toBe("too_large");
  });

  test("measures the text before anything else", () => {
    const limits = { ...upTo(4), jsonBytes: 5 };
    expect(readJson(bytes("[123]"), limits)).toEqual([123]);
    expect(() => readJson(bytes("[12345"), limits)).toThrow("the body is longer than 5 bytes (limit jsonBytes)");
    expect(codeOf(() => readJson(bytes("[12345"), limits))).toBe("too_large");
  });

  test("reads the same as JSON.parse, with and without non-ASCII characters", () => {
    expect(readJson(bytes('{"a":[1,"é€😀"]}'), upTo(4))).toEqual({ a: [1, "é€😀"] });
  });

  test("refuses an empty body, text that is not JSON and bytes that are not UTF-8", () => {
    expect(codeOf(() => readJson(bytes(""), upTo(4)))).toBe("decode");
    expect(codeOf(() => readJson(bytes("{"), upTo(4)))).toBe("decode");
    expect(codeOf(() => readJson(Uint8Array.of(0x22, 0xff, 0x22), upTo(4)))).toBe("decode");
    expect(codeOf(() => readJson(Uint8Array.of(0x22, 0xc3, 0x22), upTo(4)))).toBe("decode");
  });

  test("rejects input that nests too deep, before parsing", () => {
    expect(codeOf(() => readJson(bytes("[".repeat(200_000)), upTo(64)))).toBe("too_large");
    expect(readJson(bytes("[".repeat(64) + "]".repeat(64)), upTo(64))).toBeInstanceOf(Array);
    expect(codeOf(() => readJson(bytes("[".repeat(65) + "]".repeat(65)), upTo(64)))).toBe("too_large");
  });

  test("reports numbers that may have lost precision", () => {
    let told = 0;
    readJson(bytes('{"n":12345678901234567890}'), upTo(4), () => told++);
    readJson(bytes('{"n":12}'), upTo(4), () => told++);
    expect(told).toBe(1);
  });

  test("__proto__ is a member like any other", () => {
    const value = readJson(bytes('{"__proto__":{"polluted":true}}'), upTo(4));
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("readJsonText", () => {
  const said = (run: () => unknown): string => {
    try {
      return JSON.stringify(run());
    } catch (thrown) {
      const { code, message } = AgentError.from(thrown);
      return `${code}: ${message}`;
    }
  };
  const nasty = ['"', "\\", '\\"', "[", "]", "{", "}", ",", ":", "é", "→", "😀", "a", "1", " "];

  test("says of every text what readJson says of its bytes", () => {
    const text = fc.oneof(
      fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.stringify(value)),
      fc.array(fc.constantFrom(...nasty), { maxLength: 40 }).map((units) => units.join("")),
    );
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 0, max: 60 }),
        (each, depth, values, most) => {
          const limits = { ...upTo(depth, values), jsonBytes: most };
          expect(said(() => readJsonText(each, limits))).toBe(said(() => readJson(bytes(each), limits)));
          expect(said(() => readJsonText(each, upTo(depth, values)))).toBe(
            said(() => readJson(bytes(each), upTo(depth, values))),
          );
        },
      ),
    );
  });

  test("counts outside strings only, however they end", () => {
    expect(readJsonText('["[[[[,,,,", "\\\\", "\\"["]', upTo(1, 3))).toEqual(["[[[[,,,,", "\\", '"[']);
    expect(codeOf(() => readJsonText("[[1]]", upTo(1)))).toBe("too_large");
    expect(codeOf(() => readJsonText("[1,2,3]", upTo(1, 2)))).toBe("too_large");
    expect(codeOf(() => readJsonText('["', upTo(1)))).toBe("decode");
  });
});

describe("NestedJson", () => {
  test("texts inside one text share its limit of values; the next text has its own", () => {
    const nested = new NestedJson(upTo(4, 5));
    expect([nested.read("[1,2]"), nested.read("[3,4,5]")]).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    expect(codeOf(() => nested.read("[]"))).toBe("too_large");
    nested.restart();
    expect(nested.read("[]")).toEqual([]);
  });

  test("refuses what readJson refuses", () => {
    const nested = new NestedJson(upTo(2));
    expect(codeOf(() => nested.read("[[[]]]"))).toBe("too_large");
    expect(codeOf(() => nested.read("[1"))).toBe("decode");
  });
});
