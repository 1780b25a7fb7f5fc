import { expect, it } from "vitest";
import { PAPER, PROBE_CONFIG, PROBES, withSwitches } from "./probe-config.js";

it("has the rounds of the paper's appendix D.2: 3 downgrades, 12 clocks, 2 replays, 8 seconds of capture, 10 cases", () => {
  expect(PAPER).toMatchObject({ downgradeRounds: 3, skewRounds: 12, replayRounds: 2, captureSeconds: 8, cases: 10 });
});

it("switches probes by the names that the paper gives them", () => {
  const off = withSwitches({ tls_downgrade: false, e2e_payload_detection: false, replayRounds: 5 }, PROBES);
  const { probes, replayRounds } = PROBE_CONFIG.parse({ ...PAPER, ...off });
  expect(replayRounds).toBe(5);
  expect(PROBES.filter((name) => !probes.includes(name))).toEqual(["tls_downgrade", "e2e_payload_detection"]);
  expect(withSwitches({ time_skew_matrix: true }, ["replay"])).toEqual({ probes: ["replay", "time_skew_matrix"] });
});

it("refuses a switch that is neither on nor off, and one that there is not", () => {
  for (const wrong of [{ tls_downgrade: "no" }, { tls_upgrade: true }])
    expect(PROBE_CONFIG.safeParse({ ...PAPER, ...withSwitches(wrong, PROBES) }).success).toBe(false);
});
