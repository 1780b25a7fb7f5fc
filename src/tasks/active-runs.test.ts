import { expect, test } from "vitest";
import { ActiveRuns, type Running } from "./active-runs.js";

function runOf(taskId: string): Running {
  const stopped = Promise.resolve();
  return {
    taskId,
    owner: "a",
    epoch: 1,
    restartable: false,
    stop: () => stopped,
    abandon: () => undefined,
  };
}

test("a run is found by its task until it is removed", () => {
  const runs = new ActiveRuns();
  const [one, other] = [runOf("1"), runOf("2")];
  runs.add(one);
  runs.add(other);
  runs.remove(one);
  expect([runs.get("1"), runs.get("2"), runs.all]).toEqual([undefined, other, [other]]);
});

test("a run that ends late leaves the next one of its task", () => {
  const runs = new ActiveRuns();
  const [late, next] = [runOf("1"), runOf("1")];
  runs.add(late);
  runs.add(next);
  runs.remove(late);
  expect(runs.get("1")).toBe(next);
  runs.remove(next);
  expect(runs.all).toEqual([]);
});
