import { describe, expect, test } from "vitest";
import { parseCommonOptions } from "./driver.js";

const ROUNDS = { full: 20, quick: 12 };

describe("parseCommonOptions()", () => {
  test("without options a full run of the built source", () => {
    expect(parseCommonOptions([], ROUNDS)).toEqual({ quick: false, rounds: 20, json: undefined, build: true });
  });
  test("--quick has its own number of rounds", () => {
    expect(parseCommonOptions(["--quick"], ROUNDS)).toMatchObject({ quick: true, rounds: 12 });
  });
  test("reads all options", () => {
    expect(parseCommonOptions(["--quick", "--rounds", "7", "--json", "out.json", "--no-build"], ROUNDS)).toEqual({
      quick: true,
      rounds: 7,
      json: "out.json",
      build: false,
    });
  });
  test("--help is no run", () => expect(parseCommonOptions(["--help"], ROUNDS)).toBeUndefined());
  test.each([
    [["--rounds", "0"], "--rounds takes a number from 1 to 1000, not 0"],
    [["--rounds", "1001"], "not 1001"],
    [["--rounds", "many"], "not many"],
    [["--fast"], "--fast"],
  ])("refuses %j", (argv, want) => expect(() => parseCommonOptions(argv, ROUNDS)).toThrow(want));
});
