import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deferTimer } from "./deferred-timer.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function turns(count: number): void {
  for (let turn = 0; turn < count; turn++) vi.advanceTimersToNextTimer();
}

test("a timer that is stopped within the next turn is never started", () => {
  const run = vi.fn();
  const timer = deferTimer(run, 100, "a");
  turns(1);
  timer.stop();
  turns(1);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(run).not.toHaveBeenCalled();
});

test("the others run once, with their argument", () => {
  const run = vi.fn();
  deferTimer(run, 100, "a");
  turns(1);
  deferTimer(run, 100, "b");
  vi.advanceTimersByTime(90);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(20);
  expect(run.mock.calls).toEqual([["a"], ["b"]]);
  vi.advanceTimersByTime(1000);
  expect(run).toHaveBeenCalledTimes(2);
});

test("a refreshed timer runs later, a stopped one never", () => {
  const run = vi.fn();
  const refreshed = deferTimer(run, 100, "refreshed");
  const stopped = deferTimer(run, 100, "stopped");
  vi.advanceTimersByTime(60);
  refreshed.refresh();
  stopped.stop();
  vi.advanceTimersByTime(60);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(40);
  expect(run.mock.calls).toEqual([["refreshed"]]);
});
