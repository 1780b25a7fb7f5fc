import { describe, expect, it } from "vitest";
import { UP_LIMITS } from "../../apps/up/index.js";
import { RestartBudget } from "../../apps/up/restart-budget.js";

function budgetAt(limits = {}) {
  const clock = { at: 0, now: () => clock.at, after: () => () => undefined, random: () => 0 };
  return { clock, budget: new RestartBudget({ ...UP_LIMITS, ...limits }, clock) };
}

describe("RestartBudget", () => {
  it("doubles the backoff up to the longest", () => {
    const { budget } = budgetAt({ backoffMs: 100, longestBackoffMs: 500, restartsPerMinute: 5 });
    expect(Array.from({ length: 6 }, () => budget.next())).toEqual([100, 200, 400, 500, 500, undefined]);
  });

  it("counts restarts within a minute", () => {
    const { budget, clock } = budgetAt({ restartsPerMinute: 1 });
    expect(budget.next()).toBeDefined();
    clock.at = 59_999;
    expect(budget.next()).toBeUndefined();
    clock.at = 60_000;
    expect(budget.next()).toBeDefined();
  });

  it("resets after a steady period and after a manual restart", () => {
    const { budget, clock } = budgetAt({ backoffMs: 100, steadyMs: 1_000 });
    budget.next();
    budget.ready();
    clock.at = 999;
    expect(budget.next()).toBe(200);
    budget.ready();
    clock.at += 1_000;
    expect(budget.next()).toBe(100);
    budget.next();
    budget.reset();
    expect(budget.next()).toBe(100);
  });

  it("applies jitter of up to a fifth", () => {
    const { budget, clock } = budgetAt({ backoffMs: 100 });
    clock.random = () => 1;
    expect(budget.next()).toBe(80);
  });
});
