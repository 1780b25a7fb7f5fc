import { describe, expect, test } from "vitest";
import { parseOptions } from "./options.js";

describe("parseOptions()", () => {
  test("without options everything runs", () => {
    expect(parseOptions([])).toEqual({
      mode: "full",
      rounds: undefined,
      json: undefined,
      arms: new Set(["koine", "a2a-js"]),
      build: true,
    });
  });
  test("reads all options", () => {
    expect(parseOptions(["--quick", "--rounds", "7", "--json", "out.json", "--arms", "koine", "--no-build"])).toEqual({
      mode: "quick",
      rounds: 7,
      json: "out.json",
      arms: new Set(["koine"]),
      build: false,
    });
  });
  test("--help is no run", () => expect(parseOptions(["--help"])).toBeUndefined());
  test.each([
    [["--rounds", "0"], "--rounds takes a number from 1 to 1000, not 0"],
    [["--rounds", "many"], "not many"],
    [["--arms", "grpc"], "--arms takes koine and a2a-js, not grpc"],
    [["--quick", "--memory"], "cannot go together"],
    [["--fast"], "--fast"],
  ])("refuses %j", (argv, want) => expect(() => parseOptions(argv)).toThrow(want));
});
