import { describe, expect, test } from "vitest";
import { verdictOf } from "../../harness/conclude.js";
import type { Row } from "../../harness/result.js";
import { concludeCodecs, judgedKeys } from "./ratios.js";

const IDS = ["one", "two"];
const ALL = IDS.map((id) => ({ id, hasHalves: true }));

function rowsOf(id: string, us: Readonly<Record<string, number>>): readonly Row[] {
  return Object.entries(us).map(([arm, codecUs]) => ({
    section: / agents/.test(arm) ? `${id} agents` : `${id} small`,
    arm,
    series: Array.from({ length: 3 }, () => ({ codecUs })),
  }));
}

const GOOD = { json: 4, "json again": 4, codec: 6, "json bytes": 5, "json both": 8, "one way": 15, "round trip": 12 };
const FLAT = { "4 agents, halves": 40, "4 agents": 12, "32 agents": 12, "256 agents": 12, "1024 agents": 13.2 };

describe("concludeCodecs()", () => {
  test("publishes times and ratios of every protocol under its name", () => {
    const rows = IDS.flatMap((id) => rowsOf(id, { ...GOOD, ...FLAT }));
    const conclusion = concludeCodecs(ALL, rows);
    expect(conclusion.ratios).toMatchObject({
      floor_vs_floor: 1,
      one_encode_decode_vs_json: 1.5,
      one_halves_vs_json: 3,
      two_halves_us_at_4: 40,
      two_us_at_4: 12,
      two_us_at_32: 12,
      two_us_at_1024: 13.2,
      one_us_at_1024_vs_4: expect.closeTo(1.1),
    });
    expect(verdictOf(conclusion, judgedKeys(ALL))).toBe("met");
  });

  test.each([
    ["slower than 1.5 times JSON", { ...GOOD, codec: 6.1, ...FLAT }],
    ["longer than 30 microseconds", { ...GOOD, "4 agents": 31, "32 agents": 31, "256 agents": 31, "1024 agents": 31 }],
    ["longer with 1,024 agents", { ...GOOD, ...FLAT, "1024 agents": 14 }],
    ["longer with 32 agents", { ...GOOD, ...FLAT, "32 agents": 14 }],
  ])("%s is missed", (_, us) => {
    const rows = [...rowsOf("one", { ...GOOD, ...FLAT }), ...rowsOf("two", us)];
    expect(verdictOf(concludeCodecs(ALL, rows), judgedKeys(ALL))).toBe("missed");
  });

  test("one floor that does not equal itself leaves the whole run undecided, and a protocol that is missing is noticed", () => {
    const noisy = [...rowsOf("one", { ...GOOD, ...FLAT }), ...rowsOf("two", { ...GOOD, "json again": 3.7, ...FLAT })];
    expect(concludeCodecs(ALL, noisy).ratios["floor_vs_floor"]).toBeCloseTo(0.925);
    expect(verdictOf(concludeCodecs(ALL, noisy), judgedKeys(ALL))).toBe("inconclusive");
    const half = rowsOf("one", { ...GOOD, ...FLAT });
    expect(verdictOf(concludeCodecs(ALL, half), judgedKeys(ALL))).toBe("incomplete");
    expect(verdictOf(concludeCodecs(ALL, []), judgedKeys(ALL))).toBe("inconclusive");
  });

  test("a codec between identities has no target for its time, and one for more agents", () => {
    const sealed = [{ id: "one", hasHalves: false }];
    const slow = { json: 4, "json again": 4, codec: 40, "4 agents": 60, "32 agents": 60, "256 agents": 60, "1024 agents": 60 };
    const conclusion = concludeCodecs(sealed, rowsOf("one", slow));
    expect(conclusion.ratios).toMatchObject({ one_encode_decode_vs_json: 10, one_us_at_1024: 60 });
    expect(verdictOf(conclusion, judgedKeys(sealed))).toBe("met");
    const growing = concludeCodecs(sealed, rowsOf("one", { ...slow, "1024 agents": 70 }));
    expect(verdictOf(growing, judgedKeys(sealed))).toBe("missed");
  });
});
