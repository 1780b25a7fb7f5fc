import { describe, expect, test } from "vitest";
import type { Row } from "../../harness/result.js";
import { pairOf } from "./pairs.js";
import { addedRatios, concludeGateway, sectionOf, targetsOf } from "./ratios.js";
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

  test("decides all that has a target", () => {
    expect(Object.keys(concludeGateway([pair], rows).targets).sort()).toEqual([...targetsOf([pair])].sort());
  });
});
