import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { generateEntries } from "./generate.js";
import { ENTRY_LIMITS, parseEntries } from "./jsonl.js";
import { entriesInput, readEntries } from "./read-entries.js";

describe("generated entries", () => {
  it("are the same for the same seed, all different, and short enough for a search box", () => {
    const entries = generateEntries(1_000, 7);
    expect(generateEntries(1_000, 7)).toEqual(entries);
    expect(generateEntries(1_000, 8)).not.toEqual(entries);
    expect(generateEntries(10, 7)).toEqual(entries.slice(0, 10));
    expect(new Set(entries.map(({ text }) => text)).size).toBe(1_000);
    expect(Math.max(...entries.map(({ text }) => text.length))).toBeLessThan(200);
  });
});

describe("a file of entries", () => {
  it("has lines in either shape of MS MARCO", () => {
    const text = '{"id":"1","q":"who sells herring?"}\n\n{"query_id":2,"query":"how old is tin?","rank":1}\r\n';
    expect(parseEntries(text, "f.jsonl")).toEqual([
      { id: "1", text: "who sells herring?" },
      { id: "2", text: "how old is tin?" },
    ]);
  });

  it.each([
    ['{"id":"1","q":"a"}\nnope\n', "f.jsonl:2: not JSON"],
    ['{"id":"1"}\n', "f.jsonl:1: an entry has id and q, or query_id and query"],
    ['{"id":"1","q":"  "}\n', "f.jsonl:1: an entry has id and q"],
    [`{"id":"1","q":"${"x".repeat(ENTRY_LIMITS.textChars + 1)}"}\n`, "the text is 1 to 16384 characters"],
    ['\n{"id":"1","q":"a"}\n{"id":1,"q":"b"}\n', "f.jsonl:3: the id 1 is that of line 2"],
    ["\n\n", "f.jsonl has no entries"],
  ])("is refused by line: %j", (text, problem) => {
    expect(() => parseEntries(text, "f.jsonl")).toThrow(problem);
  });

  it("is named if it cannot be read, and hashed for the manifest", () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-entries-"));
    try {
      const path = join(folder, "entries.jsonl");
      expect(() => readEntries({ kind: "file", path })).toThrow(`cannot read ${path}`);
      const generated = { kind: "generated", count: 3, seed: 1 } as const;
      writeFileSync(
        path,
        readEntries(generated)
          .map(({ id, text }) => `${JSON.stringify({ id, q: text })}\n`)
          .join(""),
      );
      expect(readEntries({ kind: "file", path })).toEqual(readEntries(generated));
      const { sha256 } = entriesInput(generated);
      expect(entriesInput({ kind: "file", path })).toMatchObject({ role: "data", name: "entries.jsonl", sha256 });
      expect(entriesInput({ ...generated, seed: 2 }).sha256).not.toBe(sha256);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
