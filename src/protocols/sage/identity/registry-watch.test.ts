import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Changes, RegistryReader } from "../registry/registry.js";
import { RegistryWatch } from "./registry-watch.js";

const LIMITS = { watchMs: 1_000, watchRetryMs: 5_000 };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A watch of a registry whose answers are written by the test. */
function watched(answer: (cursor: number | undefined) => Changes) {
  const asked: { readonly at: number; readonly cursor: number | undefined }[] = [];
  const events: string[] = [];
  const start = Date.now();
  const state = { needed: true };
  const registry = {
    async changes(cursor?: number) {
      asked.push({ at: Date.now() - start, cursor });
      return answer(cursor);
    },
  } as RegistryReader;
  const watch = new RegistryWatch(registry, LIMITS, {
    began: () => events.push("began"),
    changed: (account) => events.push(account),
    lost: () => events.push("lost"),
    isNeeded: () => state.needed,
  });
  return { watch, asked, events, state };
}

const down = (): never => {
  throw new Error("down");
};

test("goes on from where it was, and reports who changed", async () => {
  let block = 7;
  const { watch, asked, events } = watched((cursor) => ({ cursor: block, accounts: cursor === 7 ? ["0xa"] : [] }));
  await watch.started();
  await watch.started(); // no further question
  block = 9;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toEqual([
    { at: 0, cursor: undefined },
    { at: 1_000, cursor: 7 },
    { at: 2_000, cursor: 9 },
  ]);
  expect(events).toEqual(["began", "0xa"]);
  watch.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(3);
});

test("a registry that does not answer is asked less and less often, up to the limit, and anew when it is back", async () => {
  let isDown = false;
  const { watch, asked, events } = watched(() => (isDown ? down() : { cursor: 1, accounts: [] }));
  await watch.started();
  isDown = true;
  await vi.advanceTimersByTimeAsync(17_000);
  expect(asked.map(({ at }) => at)).toEqual([0, 1_000, 3_000, 7_000, 12_000, 17_000]);
  expect(events).toEqual(["began", ...Array.from({ length: 5 }, () => "lost")]);
  isDown = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked.at(-1)).toEqual({ at: 22_000, cursor: undefined });
  expect(events.at(-1)).toBe("began");
  // Only an answer to a whole question makes it trusted again.
  await vi.advanceTimersByTimeAsync(5_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.slice(-2)).toEqual([
    { at: 27_000, cursor: 1 },
    { at: 28_000, cursor: 1 },
  ]);
});

test("who needs it is told that it cannot be asked, and asks again at once", async () => {
  let isDown = true;
  const { watch, asked } = watched(() => (isDown ? down() : { cursor: 1, accounts: [] }));
  await expect(watch.started()).rejects.toThrow("down");
  isDown = false;
  await watch.started();
  expect(asked.map(({ at }) => at)).toEqual([0, 0]);
});

test("is left alone while nobody needs it", async () => {
  const { watch, asked, state } = watched(() => ({ cursor: 1, accounts: [] }));
  await watch.started();
  state.needed = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(2);
  state.needed = true;
  await watch.started();
  expect(asked.at(-1)).toEqual({ at: 60_000, cursor: undefined });
});

test("one question at a time", async () => {
  const { watch, asked } = watched(() => ({ cursor: 1, accounts: [] }));
  await Promise.all([watch.started(), watch.started(), watch.started()]);
  expect(asked).toHaveLength(1);
});
