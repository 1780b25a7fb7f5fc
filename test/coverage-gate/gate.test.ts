import { describe, expect, test } from "vitest";
import { type CoverageMap, coverageByGroup, coverageTable } from "./gate.js";
import { groupOf } from "./groups.js";

const ROOT = "/repository";

/** A map in which each of these files has 100 branches, functions and lines. */
function mapOf(covered: Readonly<Record<string, number>>): CoverageMap {
  return {
    files: () => Object.keys(covered).map((path) => `${ROOT}/${path}`),
    fileCoverageFor(file) {
      const count = { total: 100, covered: covered[file.slice(ROOT.length + 1)] ?? 0 };
      return { toSummary: () => ({ branches: count, functions: count, lines: count }) };
    },
  };
}

const FULL = {
  "src/protocols/any/errors.ts": 100,
  "src/protocols/any/codec/event.ts": 100,
  "src/protocols/any/codec/message.ts": 100,
};

describe("the coverage gate", () => {
  test("sums each group and accepts what is above its least", () => {
    const groups = coverageByGroup(mapOf({ ...FULL, "src/protocols/other/codec/part.ts": 98, "src/tasks/run.ts": 0 }), ROOT);
    expect(groups.map(({ group, files, percent }) => [group.name, files, percent.branches])).toEqual([
      ["errors", 1, 100],
      ["streams", 1, 100],
      ["encode, decode", 2, 99],
    ]);
    expect(groups.flatMap(({ below }) => below)).toEqual([]);
  });

  test("names what is too low", () => {
    const groups = coverageByGroup(mapOf({ ...FULL, "src/protocols/any/errors.ts": 50 }), ROOT);
    expect(groups.map(({ below }) => below)).toEqual([["branches", "functions", "lines"], [], []]);
    expect(coverageTable(groups)).toMatch(/^errors +1 +50\.0 \(\d+\).*too few branches, functions, lines$/m);
  });

  test("a group whose patterns match no file is too low", () => {
    const { "src/protocols/any/errors.ts": _, ...rest } = FULL;
    expect(coverageByGroup(mapOf(rest), ROOT)[0]?.below).toEqual(["branches", "functions", "lines"]);
  });
});

test.each([
  ["src/protocols/any/codec/deep/part.ts", "encode, decode"],
  ["src/protocols/any/codec/event-reader.ts", "streams"],
  ["src/protocols/any/codec/failure.ts", "errors"],
  ["src/protocols/any/requirements/codec.ts", undefined],
  ["src/tasks/run.ts", undefined],
])("%s is in the group %s", (path, name) => {
  expect(groupOf(path)?.name).toBe(name);
});
