import { expect, it } from "vitest";
import { pairedArms } from "./paired-arms.js";

it("runs all arms once per round, whatever their order", async () => {
  let runs = 0;
  const [floor, ours] = pairedArms(["floor", "ours"], async () => {
    runs++;
    return [{ cpuUs: runs }, { cpuUs: 10 * runs }];
  });
  if (floor === undefined || ours === undefined) throw new Error("there are two");
  expect([await floor.measure(), await ours.measure()]).toEqual([{ cpuUs: 1 }, { cpuUs: 10 }]);
  expect([await ours.measure(), await floor.measure()]).toEqual([{ cpuUs: 20 }, { cpuUs: 2 }]);
  expect(runs).toBe(2);
});
