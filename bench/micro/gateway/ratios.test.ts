import { describe, expect, test } from "vitest";
import type { Row } from "../../harness/result.js";
import { pairOf } from "./pairs.js";
import { addedRatios, concludeGateway, sectionOf, targetsOf, undecidedTargets, verdictOfGateway } from "./ratios.js";
import { wireOf } from "./wires/all.js";

const pair = pairOf(wireOf("acp"), wireOf("agora"));

function latency(arm: string, ...p50s: readonly number[]): Row {
  return { section: sectionOf(pair, "latency"), arm, series: p50s.map((p50Us) => ({ p50Us })) };
}

function throughput(arm: string, ...rates: readonly number[]): Row {
  return {
    section: sectionOf(pair, "throughput"),
    arm,
    series: rates.map((perSecond) => ({ perSecond, cpuUs: 1e6 / perSecond })),
  };
}

describe("latency added by a gateway", () => {
  test("is measured over the direct call, relative to the proxy, in the same round", () => {
    const rows = [latency("direct", 50, 60), latency("proxy", 150, 160), latency("relay", 200, 110)];
    expect(addedRatios(pair, "relay", rows)).toEqual([1.5, 0.5]);
  });

  test("is the difference between calls beside each other where they were measured so", () => {
    const paired = (arm: string, addedUs: number): Row => ({
      section: sectionOf(pair, "latency"),
      arm,
      series: [{ p50Us: 1_000, addedUs }],
    });
    const rows = [paired("direct", 0), paired("proxy", 80), paired("proxy again", 84), paired("relay", 100)];
    expect(addedRatios(pair, "relay", rows)).toEqual([1.25]);
    const { ratios } = concludeGateway([pair], rows);
    expect([ratios["added_floor_vs_floor"], ratios["acp_to_agora_added_proxy_vs_proxy"]]).toEqual([1.05, 1.05]);
    expect([ratios["acp_to_agora_proxy_added_us"], ratios["acp_to_agora_relay_added_us"]]).toEqual([80, 100]);
  });

  test("is unknown where an arm did not run", () => {
    expect(addedRatios(pair, "adopt", [latency("direct", 50), latency("proxy", 150)])).toBeUndefined();
  });
});

describe("the conclusion", () => {
  const rows = [
    throughput("proxy", 1000, 1000, 1000),
    throughput("proxy again", 990, 1000, 1010),
    throughput("relay", 650, 710, 720),
    throughput("adopt", 500, 590, 700),
    latency("direct", 50),
    latency("proxy", 150),
    latency("relay", 190),
    latency("adopt", 210),
  ];

  test("uses each ratio's median, and its own target for each mode", () => {
    const { ratios, targets } = concludeGateway([pair], rows);
    expect(ratios["floor_vs_floor"]).toBe(1);
    expect(ratios["acp_to_agora_relay_vs_proxy"]).toBe(0.71);
    expect(targets["acp_to_agora_relay_vs_proxy"]).toEqual({ atLeast: 0.7, met: true });
    expect(targets["acp_to_agora_adopt_vs_proxy"]).toEqual({ atLeast: 0.6, met: false });
    expect(targets["acp_to_agora_relay_added_p50_vs_proxy"]).toEqual({ atMost: 1.5, met: true });
    expect(targets["acp_to_agora_adopt_added_p50_vs_proxy"]).toEqual({ atMost: 1.5, met: false });
  });

  test("has targets for the CPU time of streams where both protocols have them", () => {
    const both = pairOf(wireOf("acp"), wireOf("a2a-1.0-jsonrpc"));
    const streams = (arm: string, cpuUs: number): Row => ({
      section: sectionOf(both, "streams"),
      arm,
      series: [{ perSecond: 100, cpuUs }],
    });
    const { targets } = concludeGateway([both], [streams("proxy", 100), streams("relay", 150), streams("adopt", 210)]);
    expect(targets["acp_to_a2a_1_0_jsonrpc_relay_streams_cpu_vs_proxy"]).toEqual({ atMost: 1.4, met: false });
    expect(targets["acp_to_a2a_1_0_jsonrpc_adopt_streams_cpu_vs_proxy"]).toEqual({ atMost: 2.2, met: true });
    expect(targetsOf([pair]).some((key) => key.includes("streams"))).toBe(false);
  });

  test("decides all that has a target", () => {
    expect(Object.keys(concludeGateway([pair], rows).targets).sort()).toEqual([...targetsOf([pair])].sort());
  });
});

describe("the verdict", () => {
  const ROUNDS = 12;
  const times = (value: number): readonly number[] => new Array<number>(ROUNDS).fill(value);
  const spread = (): readonly number[] => Array.from({ length: ROUNDS }, (_, round) => (round % 2 === 0 ? 800 : 1250));
  const rowsOf = ({ again, relay, adopted }: { again: readonly number[]; relay: number; adopted: number }) => [
    throughput("proxy", ...times(1000)),
    throughput("proxy again", ...again),
    throughput("relay", ...times(relay)),
    throughput("adopt", ...times(adopted)),
    latency("direct", ...times(50)),
    latency("proxy", ...times(150)),
    latency("proxy again", ...times(151)),
    latency("relay", ...times(190)),
    latency("adopt", ...times(190)),
  ];
  const verdict = (rows: readonly Row[]) => {
    const conclusion = concludeGateway([pair], rows);
    return { verdict: verdictOfGateway([pair], conclusion), undecided: undecidedTargets([pair], conclusion) };
  };

  test("is met where each section has a floor of its own that is the same as itself", () => {
    expect(verdict(rowsOf({ again: times(1010), relay: 900, adopted: 800 }))).toEqual({ verdict: "met", undecided: [] });
  });

  test("leaves the targets of a noisy section undecided, and only these", () => {
    const { verdict: found, undecided } = verdict(rowsOf({ again: spread(), relay: 900, adopted: 800 }));
    expect(found).toBe("inconclusive");
    expect([...undecided].sort()).toEqual([
      "acp_to_agora_adopt_cpu_vs_proxy",
      "acp_to_agora_adopt_vs_proxy",
      "acp_to_agora_relay_cpu_vs_proxy",
      "acp_to_agora_relay_vs_proxy",
    ]);
  });

  test("is missed by a decided target, and not by an undecided one", () => {
    expect(verdict(rowsOf({ again: times(1000), relay: 400, adopted: 800 })).verdict).toBe("missed");
    expect(verdict(rowsOf({ again: spread(), relay: 400, adopted: 800 })).verdict).toBe("inconclusive");
  });

  test("is incomplete where an arm did not run", () => {
    const rows = rowsOf({ again: times(1000), relay: 900, adopted: 800 }).filter(({ arm }) => arm !== "adopt");
    expect(verdict(rows).verdict).toBe("incomplete");
  });
});
