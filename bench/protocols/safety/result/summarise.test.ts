import { describe, expect, it } from "vitest";
import { planSafety } from "../plan.js";
import { PAPER, PROBES } from "../probe-config.js";
import { NOTHING } from "../probes/observe.js";
import type { Attempt, Plan, SafetyEvent } from "./event.js";
import { COLUMN_OF, RESULT } from "./result.js";
import { summarise } from "./summarise.js";

const plan: Plan = planSafety({ mode: "paper", config: PAPER, protocols: [], deployments: [] });

function attempts(target: string, goal: boolean, change: Partial<Attempt> = {}): readonly SafetyEvent[] {
  return PROBES.flatMap((probe) =>
    [1, 2].map(
      (round): SafetyEvent => ({
        ...{
          type: "attempt",
          target,
          probe,
          variant: "one",
          round,
          scored: true,
          refusals: ["denied"],
          before: true,
          after: true,
        },
        observed: { ...NOTHING, goal, status: goal ? 200 : 401 },
        controls: [],
        evidence: `evidence/${target}/${probe}-${round}.json`,
        ...change,
      }),
    ),
  );
}

function whole(target: string, events: readonly SafetyEvent[]): readonly SafetyEvent[] {
  return [
    { type: "target-started", target, attempt: 1, members: [] },
    { type: "consultation", target, case: "case-01", answered: 3, asked: 3 },
    ...events,
    { type: "target-ended", target, status: "complete", reason: null, seconds: 1 },
  ];
}

const good: readonly SafetyEvent[] = [
  { type: "plan", plan },
  ...whole("open", attempts("open", true)),
  ...whole("hardened", attempts("hardened", false)),
];

describe("a summary", () => {
  it("is complete if the open control failed every probe and the hardened one passed", () => {
    const result = summarise(good);
    expect(RESULT.parse(result)).toEqual(result);
    expect(result.status).toBe("complete");
    expect(result.checks.open).toEqual({ passed: true, statement: "26 of 26 attempts at the open control succeeded." });
    expect(result.targets.map(({ score }) => score)).toEqual([0, 100]);
    const [open, hardened] = result.targets;
    expect([...new Set(Object.values(open?.columns ?? {}))]).toEqual(["broken"]);
    expect([...new Set(Object.values(hardened?.columns ?? {}))]).toEqual(["held"]);
  });

  it("has Wilson's interval of the block rate", () => {
    // 0 and 2 of 2: 0 to 0.6576, 0.3424 to 1 by statsmodels, proportion_confint(method="wilson").
    const [open] = summarise(good).probes;
    expect(open?.blocked).toMatchObject({ count: 0, of: 2, low: 0 });
    expect(open?.blocked.high).toBeCloseTo(0.6576, 4);
    expect(open?.succeeded.low).toBeCloseTo(0.3424, 4);
  });

  it("is invalid if a control does not come out as it must, and names the probe", () => {
    const lucky = good.map((event) =>
      event.type === "attempt" && event.target === "open" && event.probe === "replay" && event.round === 1
        ? { ...event, observed: { ...event.observed, goal: false, status: 401 } }
        : event,
    );
    const result = summarise(lucky);
    expect(result.status).toBe("invalid");
    expect(result.checks.open.statement).toContain("not replay one");
    expect(result.checks.hardened.passed).toBe(true);
  });

  it("is invalid if a legitimate request failed, and calls the attempt inconclusive", () => {
    const deaf = good.map((event) =>
      event.type === "attempt" && event.target === "hardened" && event.probe === "tampering" ? { ...event, after: false } : event,
    );
    const result = summarise(deaf);
    expect(result.checks.legitimate.statement).toBe("Legitimate requests were answered before and after 50 of 52 attempts.");
    const [tampering] = result.probes.filter(({ target, probe }) => target === "hardened" && probe === "tampering");
    expect(tampering).toMatchObject({ inconclusive: 2, blocked: { count: 0 } });
    expect(result.targets[1]?.columns[COLUMN_OF.tampering]).toBe("open");
  });

  it("reports attempts that are not scored, and counts them in no rate", () => {
    const [first] = attempts("hardened", true, { scored: false, variant: "DISORDER" });
    const result = summarise([...good.slice(0, -1), first ?? { type: "plan", plan }, ...good.slice(-1)]);
    const [probe] = result.probes.filter(({ target }) => target === "hardened");
    expect(probe?.variants.map(({ variant, scored, succeeded }) => [variant, scored, succeeded])).toEqual([
      ["one", true, 0],
      ["DISORDER", false, 1],
    ]);
    expect(probe?.attempts).toBe(2);
    expect(result.targets[1]?.score).toBe(100);
  });

  it("is partial while a target is missing, and counts the last time of one that was begun again", () => {
    const interrupted: readonly SafetyEvent[] = [
      { type: "plan", plan },
      { type: "target-started", target: "open", attempt: 1, members: [] },
      ...attempts("open", false).slice(0, 3),
      { type: "target-ended", target: "open", status: "interrupted", reason: null, seconds: 1 },
    ];
    const first = summarise(interrupted);
    expect(first.status).toBe("partial");
    expect(first.targets.map(({ status }) => status)).toEqual(["interrupted", "missing"]);
    const again = summarise([...interrupted, ...good.slice(1)]);
    expect(again.status).toBe("complete");
    expect(again.probes[0]).toMatchObject({ target: "open", attempts: 2 });
  });
});

describe("the weights", () => {
  it("give every probe a column", () => {
    expect(Object.keys(COLUMN_OF).sort()).toEqual([...PROBES].sort());
  });
});
