import { describe, expect, test } from "vitest";
import { verdictOf } from "../../harness/conclude.js";
import type { Row } from "../../harness/result.js";
import { concludeSecurity, FLOORS, isSettled, RATIOS, TARGETS, TITLES } from "./ratios.js";

const CASES = ["session_echo_300b", "session_echo_300b_8", "session_echo_64kb", "session_echo_64kb_8"] as const;

const OTHERS = {
  sealed_echo_300b: { "aes ws": 16, "aes ws again": 16, "sealed session": 20 },
  sealed_echo_64kb: { "aes ws": 16, "aes ws again": 16, "sealed session": 20 },
  sage_echo_300b: { "bare primitives": 17, "bare primitives again": 17, session: 20 },
  sage_echo_64kb: { "bare primitives": 17, "bare primitives again": 17, session: 20 },
  sage_batch_256: { "one thread": 18, "one thread again": 18, threads: 10 },
  sage_batch_1024: { "one thread": 17, "one thread again": 17, threads: 10 },
  sage_batch_bound: { "one process": 20, "one process again": 20, "two processes": 10 },
  sage_handshake: { "bare hpke": 1_000, hpke: 1_200, "bare four-phase": 2_000, "four-phase": 2_400 },
  sage_resolution: { "embedded, cached": 1 },
  record_aes_300b: { bare: 17, "bare again": 17, record: 20 },
  record_aes_64kb: { bare: 17, "bare again": 17, record: 20 },
  record_chacha_300b: { bare: 17, "bare again": 17, record: 20 },
  record_chacha_64kb: { bare: 17, "bare again": 17, record: 20 },
  http_signature_1kb: { bare: 100, "bare again": 100, signature: 125 },
  replay_guard: { memory: 2, "memory again": 2, sqlite: 32 },
};

/** Full runs only, and nothing is decided by them. */
const WITHOUT_FLOOR = ["sage_handshake", "sage_resolution"];

type Case = (typeof CASES)[number];

function rowsOf(section: string, cpuUs: Readonly<Record<string, number>>): readonly Row[] {
  return Object.entries(cpuUs).map(([arm, each]) => ({
    section,
    arm,
    series: Array.from({ length: 3 }, () => ({ cpuUs: each, perSecond: 1e6 / (2 * each) })),
  }));
}

const GOOD = { ws: 16, "ws again": 16, session: 20 };

function runWith(changed: Partial<Record<Case, Readonly<Record<string, number>>>> = {}): readonly Row[] {
  const others = Object.entries(OTHERS).flatMap(([section, cpuUs]) => rowsOf(section, cpuUs));
  return [...CASES.flatMap((section) => rowsOf(section, changed[section] ?? GOOD)), ...others];
}

describe("the ratios of bench:security", () => {
  test("the targets are the published ones", () => {
    const got = Object.fromEntries(RATIOS.flatMap(({ key, target }) => (target === undefined ? [] : [[key, target]])));
    expect(got).toEqual({
      session_echo_300b_vs_ws: { atLeast: 0.8 },
      session_echo_300b_8_vs_ws: { atLeast: 0.8 },
      session_echo_64kb_vs_ws: { atLeast: 0.8 },
      session_echo_64kb_8_vs_ws: { atLeast: 0.8 },
      sealed_echo_300b_vs_aes: { atLeast: 0.8 },
      sealed_echo_64kb_vs_aes: { atLeast: 0.8 },
      sage_echo_300b_vs_bare: { atLeast: 0.85 },
      sage_echo_64kb_vs_bare: { atLeast: 0.85 },
      batch_verify_256_speedup: { atLeast: 1.7 },
      batch_verify_1024_speedup: { atLeast: 1.7 },
      record_aes_300b_vs_bare: { atLeast: 0.85 },
      record_aes_64kb_vs_bare: { atLeast: 0.85 },
      record_chacha_300b_vs_bare: { atLeast: 0.85 },
      record_chacha_64kb_vs_bare: { atLeast: 0.85 },
      http_signature_1kb_vs_bare: { atMost: 1.25 },
    });
    expect(TARGETS).toEqual(Object.keys(got));
  });

  test("each target is judged by the floor of its own section and metric", () => {
    for (const { key, section, metric, floor, target } of RATIOS) {
      if (target === undefined) continue;
      const own = FLOORS.find((each) => each.key === floor);
      expect([key, own?.section, own?.metric]).toEqual([key, section, metric]);
    }
  });

  test("no key is used twice, and each section has a title and a floor", () => {
    const keys = [...FLOORS, ...RATIOS].map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(Object.keys(TITLES)).toEqual([...CASES, ...Object.keys(OTHERS)]);
    const measuredTwice = Object.keys(OTHERS).filter((section) => !WITHOUT_FLOOR.includes(section));
    expect(FLOORS.map(({ section }) => section)).toEqual([...CASES, ...measuredTwice]);
  });
});

describe("concludeSecurity()", () => {
  test("a session that takes longer has a ratio below one, of CPU time as of messages per second", () => {
    const { ratios } = concludeSecurity(runWith());
    expect(ratios).toMatchObject({
      floor_vs_floor: 1,
      ws_vs_ws: 1,
      session_echo_300b_ws_vs_ws: 1,
      session_echo_300b_vs_ws: 0.8,
      session_echo_64kb_8_vs_ws: 0.8,
      session_echo_300b_per_second_vs_ws: 0.8,
      sage_echo_300b_vs_bare: 0.85,
      batch_verify_256_speedup: 1.8,
      batch_verify_bound: 2,
      batch_verify_256_of_bound: 0.9,
      batch_verify_1024_of_bound: 0.85,
      sage_hpke_vs_bare: 1.2,
      sage_four_phase_vs_bare: 1.2,
      record_aes_300b_vs_bare: 0.85,
      http_signature_1kb_vs_bare: 1.25,
      replay_guard_sqlite_vs_memory: 16,
    });
  });

  test("the floor that does not read its messages is compared where it ran, and decides nothing", () => {
    const conclusion = concludeSecurity(runWith({ session_echo_64kb: { ...GOOD, "ws unread": 10 } }));
    expect(conclusion.ratios["session_echo_64kb_vs_ws_unread"]).toBe(0.5);
    expect(conclusion.ratios).not.toHaveProperty("session_echo_300b_vs_ws_unread");
    expect(verdictOf(conclusion, TARGETS)).toBe("met");
  });

  test("0.8 is met, and less in one section misses", () => {
    expect(verdictOf(concludeSecurity(runWith()), TARGETS)).toBe("met");
    const slow = concludeSecurity(runWith({ session_echo_64kb: { ...GOOD, session: 20.1 } }));
    expect(verdictOf(slow, TARGETS)).toBe("missed");
    expect(slow.targets["session_echo_64kb_vs_ws"]).toMatchObject({ atLeast: 0.8, met: false });
  });

  test.each([
    ["too slow", 17, 17 / 16],
    ["too fast", 15, 15 / 16],
  ])("a floor that is %s in one section makes the run inconclusive", (_, again, ratio) => {
    const conclusion = concludeSecurity(runWith({ session_echo_300b_8: { ...GOOD, "ws again": again } }));
    expect(conclusion.ratios["ws_vs_ws"]).toBeCloseTo(ratio);
    expect(conclusion.ratios["floor_vs_floor"]).toBeCloseTo(ratio);
    expect(verdictOf(conclusion, TARGETS)).toBe("inconclusive");
  });

  test("a section that is missing is noticed", () => {
    expect(verdictOf(concludeSecurity(rowsOf("session_echo_300b", GOOD)), TARGETS)).toBe("incomplete");
    expect(verdictOf(concludeSecurity([]), TARGETS)).toBe("inconclusive");
  });
});

describe("isSettled()", () => {
  /** `count` rounds of a floor and of the same again, which is off by `by` in turns to either side. */
  const floorRows = (count: number, by: number): readonly Row[] =>
    ["bare", "bare again"].map((arm) => ({
      section: "record_aes_300b",
      arm,
      series: Array.from({ length: count }, (_, round) => ({ cpuUs: arm === "bare" ? 10 : 10 * (1 + (round % 2 ? by : -by)) })),
    }));

  test.each([
    [100, 0.02, true],
    [100, 0.05, false],
    [5, 0, false], // no interval of five rounds has 95 %
    [6, 0, true],
  ])("%i rounds off by %d: %s", (count, by, want) => expect(isSettled(floorRows(count, by))).toBe(want));

  test.each([
    [[11, 11], true], // 0.91
    [[12.5, 12.5], true], // 0.8
    [[11, 12.5], false], // the target of 0.85 is between them
  ] as const)("records that cost %j of 10: %s", (costs, want) => {
    const series = Array.from({ length: 20 }, (_, round) => ({ cpuUs: costs[round % 2] ?? Number.NaN }));
    expect(isSettled([...floorRows(20, 0), { section: "record_aes_300b", arm: "record", series }])).toBe(want);
  });
});
