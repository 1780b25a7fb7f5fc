import { describe, expect, test } from "vitest";
import { systemIds } from "./ids.js";

const IDS = Array.from({ length: 10_000 }, () => systemIds.newId());

test("ids are random UUIDs as RFC 9562 §5.4 writes them", () => {
  for (const id of IDS) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("none is made twice", () => {
  expect(new Set(IDS).size).toBe(IDS.length);
});

test("every digit but version and variant has all values at about the same rate", () => {
  for (let place = 0; place < 36; place++) {
    if ([8, 13, 14, 18, 19, 23].includes(place)) continue;
    const counts = new Map<string, number>();
    for (const id of IDS) counts.set(id.charAt(place), (counts.get(id.charAt(place)) ?? 0) + 1);
    expect(counts.size).toBe(16);
    // Mean 625, standard deviation 24: outside of this once in 10^24 runs.
    for (const count of counts.values()) expect(Math.abs(count - 625)).toBeLessThan(250);
  }
});

describe("ids of tasks", () => {
  test("are UUIDs of the time as RFC 9562 §5.7 writes them", () => {
    const before = Date.now();
    const ids = Array.from({ length: 1_000 }, () => systemIds.newTaskId());
    const after = Date.now();
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(after);
    }
    expect(new Set(ids.map((id) => id.slice(14))).size).toBe(ids.length);
  });

  test("leave the ids after them random", () => {
    const ids = Array.from({ length: 1_000 }, () => [systemIds.newTaskId(), systemIds.newId()] as const);
    const starts = ids.map(([, id]) => id.slice(0, 13));
    expect(new Set(starts).size).toBe(starts.length);
  });
});
