import { describe, expect, it } from "vitest";
import { parseText } from "./document.js";
import { parseRanking } from "./ranking.js";

const codeOf = (text: string): Promise<string> =>
  parseText(text).then(
    () => "taken",
    (thrown: { readonly code?: string; readonly message: string }) => `${thrown.code}: ${thrown.message}`,
  );

describe("parseText()", () => {
  it.each([
    ["nothing", "", "decode: the file is empty"],
    ["a mark and blanks", "\ufeff \r\n", "decode: the file is empty"],
    ["a key twice in YAML", "a: 1\nb: 2\na: 3\n", "decode: line 3: map keys must be unique"],
    ["a tag of somebody else", "a: 1\nb: !!js/function x\n", "decode: line 2: unresolved tag: tag:yaml.org,2002:js/function"],
    ["an anchor that is missing", "a: *x\n", "decode: "],
    ["lists in lists of JSON", "[".repeat(100_000) + "]".repeat(100_000), "too_large: nests deeper than 32 levels"],
    ["lists in lists that nobody closes", "[".repeat(100_000), "too_large: nests deeper than 32 levels"],
    ["lists in lists of YAML", `${"- ".repeat(100_000)}a`, "too_large: nests deeper than 32 levels"],
    ["keys in keys of YAML", "? ".repeat(100_000), "too_large: nests deeper than 32 levels"],
    ["more than a file may have", " ".repeat(16 * 1024 * 1024 + 1), "too_large: a scenario file may have 16 MiB"],
    ["more than YAML may have", `a: ${"x".repeat(4 * 1024 * 1024)}`, "too_large: as YAML it may have"],
    ["a comma too few in JSON", '{\n  "a": 1\n  "b": 2\n}', "decode: line 3: expected ',' or '}'"],
    ["a word without quotes in JSON", '{\n"a": "b",\n"c": [x, "d" "e"]}', "decode: line 3: "],
  ])("refuses %s", async (_name, text, expected) => {
    expect(await codeOf(text)).toContain(expected);
  });

  it("refuses anchors that unfold into more than they are", async () => {
    const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(", ")}]`);
    expect(await codeOf(`l0: &l0 [lol]\n${levels.join("\n")}\n`)).toBe(
      "decode: its anchors are repeated too often, or are missing",
    );
  });

  it("treats members of every object as plain names", async () => {
    for (const text of ['{"__proto__": {"x": 1}}', "__proto__: {x: 1}"]) {
      const parsed = await parseText(text);
      expect(parsed).toMatchObject({ kind: "document" });
      expect(Object.getPrototypeOf("value" in parsed ? parsed.value : undefined)).toBe(Object.prototype);
    }
  });

  it("detects the format by content, not by name", async () => {
    expect(await parseText('{"a":1}\n', "x.yaml")).toEqual({ kind: "document", value: { a: 1 } });
    expect(await parseText("a: 1\r\nb: 2\r\n", "x.json")).toEqual({ kind: "document", value: { a: 1, b: 2 } });
    expect((await parseText('{"a":1}\n{"a":2}\n', "x.json")).kind).toBe("lines");
    expect(await parseText("{a: 1}", "x.json")).toEqual({ kind: "document", value: { a: 1 } });
  });
});

describe("parseRanking()", () => {
  it("reads names as decisions write them, from JSON and YAML", async () => {
    expect(await parseRanking('{"ranking": ["acp", "AGORA", "A2A"]}')).toEqual(["ACP", "Agora", "A2A"]);
    expect(await parseRanking("ranking:\n  - ANP\n")).toEqual(["ANP"]);
    const results = {
      protocols: [
        { protocol: "acp", success: 0.9, p50Us: 10 },
        { protocol: "agora", success: 1, p50Us: 99 },
      ],
    };
    expect((await parseRanking(JSON.stringify(results))).slice(0, 2)).toEqual(["Agora", "ACP"]);
  });

  it.each([
    ['{"ranking": ["acpp"]}', 'ranking[0] names no protocol: "acpp"; did you mean ACP?'],
    ['{"ranking": ["ACP", "acp"]}', "ranking names ACP twice"],
    ['{"ranking": [1]}', "ranking[0] names no protocol: 1; there are: "],
    ['{"ranking": []}', "it has no `ranking`"],
    ['["ACP"]', "it has no `ranking`"],
  ])("refuses %s", async (text, expected) => {
    await expect(parseRanking(text)).rejects.toThrow(expected);
  });
});
