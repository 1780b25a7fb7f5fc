import { describe, expect, test } from "vitest";
import { expandCores } from "./processes.js";

describe("expandCores()", () => {
  test("reads ranges and single cores", () => expect(expandCores("0-2,5")).toEqual([0, 1, 2, 5]));
  test("one core", () => expect(expandCores("7")).toEqual([7]));
  test("nothing readable", () => expect(expandCores("")).toEqual([]));
});
