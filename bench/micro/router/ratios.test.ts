import { describe, expect, test } from "vitest";
import { verdictOf } from "../../harness/conclude.js";
import type { Measurement, Row } from "../../harness/result.js";
import { concludeRouter, type Measured, TARGETS } from "./ratios.js";

const row = (section: string, arm: string, series: readonly Measurement[]): Row => ({ section, arm, series });
const decisions = (p50Us: number): Measurement => ({ perSecond: 2_000, p50Us, p95Us: 900, p99Us: 950, cpuUs: 450 });
/** Two hundred modules: all but two take 0.4 ms. */
const typical = (slowMs: number): readonly number[] => [slowMs, slowMs, ...Array<number>(198).fill(0.4)];
const floor = (perSecond: number): Measurement => ({ perSecond, p50Us: 4, p95Us: 5, p99Us: 6 });

const MEASURED: Measured = {
  rows: [
    row("plain", "keywords", [floor(1_000), floor(1_000), floor(1_000)]),
    row("plain", "keywords again", [floor(1_000), floor(1_020), floor(980)]),
    row("plain", "route", [decisions(400), decisions(360), decisions(440)]),
    row("at once", "route", [{ perSecond: 3_000 }, { perSecond: 3_200 }, { perSecond: 2_800 }]),
    row("semantic", "route with embeddings", [decisions(20_000), decisions(22_000), decisions(24_000)]),
  ],
  loads: [
    { importMs: 100, firstDecisionMs: 30, heapMb: 9, rssMb: 20 },
    { importMs: 120, firstDecisionMs: 50, heapMb: 9, rssMb: 24 },
  ],
  growth: { decisions: 5_000, before: { heapMb: 20, rssMb: 80 }, after: { heapMb: 20.5, rssMb: 84 } },
  typicalMs: typical(9),
  openingsMs: [300],
};

describe("concludeRouter()", () => {
  test("publishes medians in milliseconds, beside the other figures of a decision", () => {
    expect(concludeRouter(MEASURED).ratios).toEqual({
      floor_vs_floor: 1,
      decision_vs_keywords: 100,
      decision_ms_plain: 0.4,
      decision_ms_plain_p95: 0.9,
      decision_ms_plain_p99: 0.95,
      decision_ms_plain_mean: 0.5,
      decision_ms_plain_best_round: 0.36,
      decision_ms_plain_p99_best_round: 0.95,
      decision_ms_plain_module_p99: 0.4,
      decision_cpu_ms_plain: 0.45,
      modules_per_second: 3_000,
      decision_ms_semantic: 22,
      decision_ms_semantic_p95: 0.9,
      decision_ms_semantic_p99: 0.95,
      decision_ms_semantic_mean: 0.5,
      decision_ms_semantic_best_round: 20,
      decision_ms_semantic_p99_best_round: 0.95,
      embeddings_open_ms: 300,
      import_ms: 110,
      first_decision_ms: 40,
      loaded_heap_mb: 9,
      loaded_rss_mb: 22,
      grown_heap_mb: 0.5,
      grown_rss_mb: 4,
    });
  });

  test("holds the median decision, 99 of 100 modules and the CPU time to 1 ms, and the median to 50 ms with embeddings", () => {
    expect(concludeRouter(MEASURED).targets).toEqual({
      decision_ms_plain: { atMost: 1, met: true },
      decision_ms_plain_module_p99: { atMost: 1, met: true },
      decision_cpu_ms_plain: { atMost: 1, met: true },
      decision_ms_semantic: { atMost: 50, met: true },
    });
    expect(verdictOf(concludeRouter(MEASURED), TARGETS)).toBe("met");
  });

  test.each([
    ["plain", "route", 1_100],
    ["semantic", "route with embeddings", 51_000],
  ])("%s slower decisions miss the target", (section, arm, p50Us) => {
    const others = MEASURED.rows.filter((each) => each.section !== section || each.arm !== arm);
    const slow = row(section, arm, [decisions(p50Us), decisions(p50Us), decisions(p50Us)]);
    expect(verdictOf(concludeRouter({ ...MEASURED, rows: [...others, slow] }), TARGETS)).toBe("missed");
  });

  test("more than one slow module of a hundred miss the target", () => {
    const typicalMs = [1.1, ...typical(1.1)];
    expect(verdictOf(concludeRouter({ ...MEASURED, typicalMs }), TARGETS)).toBe("missed");
  });

  const withDecisions = (one: Measurement): Measured => {
    const others = MEASURED.rows.filter((each) => each.section !== "plain" || each.arm !== "route");
    return { ...MEASURED, rows: [...others, row("plain", "route", [one, one, one])] };
  };

  test("garbage collection and compilation in other threads count: CPU time above 1 ms misses the target", () => {
    expect(verdictOf(concludeRouter(withDecisions({ ...decisions(400), cpuUs: 1_100 })), TARGETS)).toBe("missed");
  });

  test("an interruption of one decision in a hundred is shown, and decides nothing", () => {
    const conclusion = concludeRouter(withDecisions({ ...decisions(400), p99Us: 3_900 }));
    expect(conclusion.ratios["decision_ms_plain_p99"]).toBe(3.9);
    expect(verdictOf(conclusion, TARGETS)).toBe("met");
  });

  test("without embeddings they are not reported, and the run is incomplete", () => {
    const rows = MEASURED.rows.filter(({ section }) => section !== "semantic");
    const conclusion = concludeRouter({ ...MEASURED, rows, openingsMs: [] });
    expect(Object.keys(conclusion.ratios).filter((key) => /semantic|embeddings/.test(key))).toEqual([]);
    expect(verdictOf(conclusion, TARGETS)).toBe("incomplete");
  });
});
