import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KEEP_ALIVE_TICKS, KeepAlive, type KeptAlive } from "./keep-alive.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stream(onTick: () => void): KeptAlive {
  return { slot: undefined, tick: onTick };
}

test("streams of one interval share a timer, which ends after the last of them", () => {
  const ticks = { a: 0, b: 0 };
  const [a, b] = [stream(() => ticks.a++), stream(() => ticks.b++)];
  for (const each of [a, b]) KeepAlive.every(400).add(each);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(400);
  expect(ticks).toEqual({ a: KEEP_ALIVE_TICKS, b: KEEP_ALIVE_TICKS });
  KeepAlive.every(400).remove(a);
  vi.advanceTimersByTime(100);
  expect(ticks).toEqual({ a: KEEP_ALIVE_TICKS, b: KEEP_ALIVE_TICKS + 1 });
  KeepAlive.every(400).remove(b);
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
});

test("streams that end in a tick leave no other out", () => {
  const ticked: string[] = [];
  const streams = ["a", "b", "c"].map((name): KeptAlive => {
    const one = stream(() => {
      ticked.push(name);
      KeepAlive.every(40).remove(one);
    });
    return one;
  });
  for (const each of streams) KeepAlive.every(40).add(each);
  vi.advanceTimersByTime(10);
  expect(ticked.sort()).toEqual(["a", "b", "c"]);
});
