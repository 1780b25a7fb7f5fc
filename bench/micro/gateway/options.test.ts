import { describe, expect, test } from "vitest";
import { parseOptions } from "./options.js";

const namesOf = (argv: readonly string[]): readonly string[] => (parseOptions(argv)?.pairs ?? []).map(({ name }) => name);

describe("the options of bench:gateway", () => {
  test("three pairs by default, one of them to gRPC", () => {
    const names = namesOf([]);
    expect(names).toHaveLength(3);
    expect(names).toContain("a2a-1.0-jsonrpc:a2a-1.0-grpc");
    expect(namesOf(["--quick"])).toEqual(names);
  });

  test("--all selects every ordered pair of the seven wires, once", () => {
    const names = namesOf(["--all"]);
    expect(names).toHaveLength(49);
    expect(new Set(names).size).toBe(49);
  });

  test("--pairs names fronts and agents, and keys have no dots", () => {
    const options = parseOptions(["--pairs", "a2a-0.3:acp,agora:a2a-1.0-rest"]);
    expect(options?.pairs.map(({ key }) => key)).toEqual(["a2a_0_3_to_acp", "agora_to_a2a_1_0_rest"]);
  });

  test.each([
    [["--pairs", "acp"], "front:behind"],
    [["--pairs", "acp:nobody"], "there is no wire nobody"],
    [["--all", "--quick"], "--all"],
    [["--rounds", "0"], "--rounds"],
  ])("%j is refused with a sentence", (argv, words) => {
    expect(() => parseOptions(argv)).toThrow(words);
  });
});
