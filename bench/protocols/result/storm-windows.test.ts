import { describe, expect, it } from "vitest";
import { countRetentionOf, type Ended, retentionOf, windowsOf } from "./storm-windows.js";

const S = 1_000_000_000;
/** One right answer in every half second from 0 to 400 s, with a latency of its second in microseconds. */
const STEADY: readonly Ended[] = Array.from({ length: 800 }, (_, index) => ({
  askedNs: (index * S) / 2,
  ns: (index * S) / 2,
  right: true,
  latencyUs: Math.floor(index / 2),
}));
const RUN = { beginNs: 0, endNs: 400 * S, nextNs: undefined };

describe("windows of a cycle", () => {
  it("are [k−60, k), [k, r] and (r, r+60] where nothing cuts them", () => {
    const { paper, during } = windowsOf(STEADY, { ...RUN, faultNs: 200 * S, recoveredNs: 210 * S });
    expect(paper.pre).toMatchObject({ seconds: 60, truncated: false, ended: 120, right: 120, meanUs: 169.5, medianUs: 169.5 });
    // From 200.0 to 210.0, both included; the next window begins after 210.0 and ends with 270.0.
    expect(during).toMatchObject({ seconds: 10, ended: 21 });
    expect(paper.post).toMatchObject({ seconds: 60, truncated: false, ended: 120 });
  });

  it("are cut by the begin of the run, the next fault and the end of the run", () => {
    const cut = windowsOf(STEADY, { ...RUN, faultNs: 20 * S, recoveredNs: 30 * S, nextNs: 50 * S });
    expect(cut.paper.pre).toMatchObject({ seconds: 20, truncated: true, ended: 40 });
    expect(cut.paper.post).toMatchObject({ seconds: 20, truncated: true, ended: 40 });
    const last = windowsOf(STEADY, { ...RUN, faultNs: 360 * S, recoveredNs: 370 * S });
    expect(last.paper.post).toMatchObject({ seconds: 30, truncated: true });
  });

  it("of the appendix are two minutes before, and until the next fault", () => {
    const { appendix } = windowsOf(STEADY, { ...RUN, faultNs: 150 * S, recoveredNs: 160 * S, nextNs: 300 * S });
    expect(appendix.pre).toMatchObject({ seconds: 120, truncated: false, ended: 240 });
    expect(appendix.post).toMatchObject({ seconds: 140, truncated: false, ended: 280 });
  });

  it("have only requests that were asked and ended in them: one under way at the fault or at the recovery met agents that were gone", () => {
    const asked = (askedS: number, endedS: number, right: boolean): Ended => ({
      askedNs: askedS * S,
      ns: endedS * S,
      right,
      latencyUs: (endedS - askedS) * 1e6,
    });
    const ended = [
      asked(90, 91, true),
      asked(99, 101, false),
      asked(105, 106, false),
      asked(109, 111, false),
      asked(111, 112, true),
    ];
    const { paper, during } = windowsOf(ended, { ...RUN, faultNs: 100 * S, recoveredNs: 110 * S });
    expect(paper.pre).toMatchObject({ ended: 1, right: 1 });
    expect(during).toMatchObject({ ended: 3, right: 0 });
    expect(paper.post).toMatchObject({ ended: 1, right: 1 });
  });

  it("after a fault that nothing recovered from are empty, and the time during it lasts until the next", () => {
    const { paper, during } = windowsOf(STEADY, { ...RUN, faultNs: 100 * S, recoveredNs: undefined, nextNs: 120 * S });
    expect(paper.post).toMatchObject({ seconds: 0, ended: 0, meanUs: null, medianUs: null });
    expect(during.seconds).toBe(20);
  });

  it("leave requests without an answer out of latencies, and count them as ended", () => {
    const ended = [
      { askedNs: 0, ns: 1, right: true, latencyUs: 10 },
      { askedNs: 0, ns: 2, right: false, latencyUs: 20 },
      { askedNs: 0, ns: 3, right: false, latencyUs: undefined },
    ];
    const { paper } = windowsOf(ended, { ...RUN, faultNs: 4, recoveredNs: 5 });
    expect(paper.pre).toMatchObject({ ended: 3, right: 1, meanUs: 15, medianUs: 15 });
  });
});

describe("retention", () => {
  const window = (right: number, ended: number) => ({
    seconds: 60,
    truncated: false,
    right,
    ended,
    meanUs: null,
    medianUs: null,
  });

  it("is the share after over the share before: that of the paper's A2A row is 98.85 %", () => {
    expect(retentionOf(window(1_474, 10_000), window(1_457, 10_000))).toBeCloseTo(0.9885, 4);
    expect(countRetentionOf(window(100, 100), window(80, 80))).toBe(0.8);
  });

  it("is not available without a success before", () => {
    expect(retentionOf(window(0, 10), window(5, 10))).toBeNull();
    expect(countRetentionOf(window(0, 10), window(5, 10))).toBeNull();
    expect(retentionOf(window(5, 10), window(0, 0))).toBeNull();
  });
});
