import { describe, expect, test } from "vitest";
import {
  conclude,
  isConclusive,
  type RatioDefinition,
  ratiosOf,
  tooCloseToCall,
  verdictOf,
  whyInconclusive,
} from "./conclude.js";
import type { Row } from "./result.js";

const row = (arm: string, perSecond: readonly number[]): Row => ({
  section: "server",
  arm,
  series: perSecond.map((value) => ({ perSecond: value })),
});
const floor = row("floor", [100, 200, 50, 100, 100, 100]);
const again = row("floor again", [100, 190, 51, 104, 98, 100]);
const definitions: readonly RatioDefinition[] = [
  { key: "floor_vs_floor", section: "server", of: "floor again", over: "floor", metric: "perSecond" },
  { key: "unary", section: "server", of: "koine", over: "floor", metric: "perSecond", target: { atLeast: 0.8 } },
];

describe("ratiosOf()", () => {
  const [, unary] = definitions;
  test("compares arms of the same round", () => {
    expect(unary && ratiosOf(unary, [floor, row("koine", [90, 160, 45, 80, 80, 70])])).toEqual([0.9, 0.8, 0.9, 0.8, 0.8, 0.7]);
  });
  test("ignores an arm that did not run", () => expect(unary && ratiosOf(unary, [floor])).toBeUndefined());
});

describe("conclude()", () => {
  test("computes median, spread, interval and target", () => {
    const got = conclude(definitions, [floor, again, row("koine", [90, 160, 45, 80, 80, 70])]);
    expect(got.ratios["unary"]).toBe(0.8);
    expect(got.spread["unary"]).toEqual([0.7, 0.9]);
    expect(got.interval["unary"]).toEqual([0.7, 0.9]);
    expect(got.targets).toEqual({ unary: { atLeast: 0.8, met: true } });
    expect(got.ratios["floor_vs_floor"]).toBe(1);
  });
  test("a target may be an upper bound", () => {
    const rss: RatioDefinition = {
      key: "rss",
      section: "server",
      of: "koine",
      over: "floor",
      metric: "perSecond",
      target: { atMost: 0.6 },
    };
    expect(conclude([rss], [row("koine", [61]), row("floor", [100])]).targets).toEqual({ rss: { atMost: 0.6, met: false } });
  });
});

describe("a target with a floor of its own", () => {
  const own: RatioDefinition = {
    key: "own",
    section: "server",
    of: "koine",
    over: "floor",
    metric: "perSecond",
    floor: "own_floor",
  };
  const aa: RatioDefinition = { key: "own_floor", section: "server", of: "floor again", over: "floor", metric: "perSecond" };
  const noisy: RatioDefinition = { ...aa, key: "other_floor", section: "noisy" };
  const others = [floor, row("floor again", [10, 20, 5, 10, 10, 10])].map((each) => ({ ...each, section: "noisy" }));
  const decided = (second: Row, koine: readonly number[], target: { readonly atLeast: number } | { readonly atMost: number }) =>
    conclude([aa, noisy, { ...own, target }], [floor, second, row("koine", koine), ...others]).targets["own"];
  const good = [90, 170, 45, 88, 86, 84];

  test("is decided by that floor, however noisy another one is", () => {
    expect(decided(again, good, { atLeast: 0.8 })).toEqual({ atLeast: 0.8, met: true, decided: true });
    expect(decided(again, good, { atMost: 0.8 })).toEqual({ atMost: 0.8, met: false, decided: true });
  });
  test("is not decided if its floor differs from itself", () => {
    const different = row("floor again", [90, 180, 45, 90, 90, 90]);
    expect(decided(different, good, { atLeast: 0.8 })).toEqual({ atLeast: 0.8, met: true, decided: false });
  });
  test("is not decided within its interval, by too few rounds, or without its floor", () => {
    expect(decided(again, good, { atLeast: 0.86 })).toMatchObject({ decided: false });
    const few = (each: Row): Row => ({ ...each, series: each.series.slice(0, 5) });
    const definition = { ...own, target: { atLeast: 0.8 } } as const;
    const rows = [floor, again, row("koine", good)];
    expect(conclude([aa, definition], rows.map(few)).targets["own"]).toMatchObject({ met: true, decided: false });
    expect(conclude([definition], rows).targets["own"]).toMatchObject({ met: true, decided: false });
  });
});

describe("isConclusive()", () => {
  test.each([
    [0.949, false],
    [0.95, true],
    [1.05, true],
    [1.051, false],
    [undefined, false],
  ])("floor against itself at %s: %s", (ratio, want) => expect(isConclusive(ratio)).toBe(want));
});

describe("verdictOf()", () => {
  const run = (koine: readonly number[], second: Row) => conclude(definitions, [floor, second, row("koine", koine)]);
  const good = [90, 160, 45, 80, 80, 70];
  test("met", () => expect(verdictOf(run(good, again), ["unary"])).toBe("met"));
  test("missed", () => expect(verdictOf(run([70, 140, 35, 70, 70, 70], again), ["unary"])).toBe("missed"));
  test("inconclusive, whatever the targets", () => {
    expect(verdictOf(run(good, row("floor again", [90, 180, 45, 90, 90, 90])), ["unary"])).toBe("inconclusive");
  });
  test("by interval, a median that is right by chance decides nothing", () => {
    const scattered = row("floor again", [90, 220, 50, 100, 96, 104]);
    const settled = row("floor again", [98, 204, 50, 100, 99, 101]);
    expect(verdictOf(run(good, scattered), ["unary"])).toBe("met");
    expect(verdictOf(run(good, scattered), ["unary"], "interval")).toBe("inconclusive");
    expect(verdictOf(run(good, settled), ["unary"], "interval")).toBe("met");
    expect(whyInconclusive(run(good, settled), "The floor")).toBeUndefined();
    expect(whyInconclusive(run(good, scattered), "The floor")).toContain("[0.900, 1.100]");
  });
  test("incomplete without the arm", () => {
    expect(verdictOf(conclude(definitions, [floor, again]), ["unary"])).toBe("incomplete");
  });
});

describe("tooCloseToCall()", () => {
  test("names the targets inside their interval", () => {
    const targets = { sure: { atLeast: 0.8, met: true }, close: { atLeast: 0.8, met: true }, low: { atMost: 0.6, met: true } };
    const interval = { sure: [0.81, 0.9], close: [0.7, 0.9], low: [0.5, 0.7] } as const;
    expect(tooCloseToCall({ targets, interval })).toEqual(["close", "low"]);
  });
  test("reports nothing with too few rounds for an interval", () => {
    expect(tooCloseToCall({ targets: { few: { atLeast: 0.8, met: false } }, interval: {} })).toEqual([]);
  });
});
