import { expect, test } from "vitest";
import { RecentMap } from "./recent-map.js";

test("RecentMap evicts the least recently used entries beyond its limit", () => {
  const map = new RecentMap<number>(10);
  map.set("used", 1);
  for (let index = 0; index < 1_000; index++) {
    map.set(`key ${index}`, index);
    expect(map.get("used")).toBe(1);
    expect(map.size).toBeLessThanOrEqual(10);
  }
  expect(map.get("key 999")).toBe(999);
  expect(map.get("key 0")).toBeUndefined();
  map.delete("used");
  expect(map.get("used")).toBeUndefined();
  map.clear();
  expect(map.size).toBe(0);
});
