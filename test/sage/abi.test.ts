import { readFileSync } from "node:fs";
import { parseAbi } from "viem";
import { expect, test } from "vitest";
import { REGISTRY_ABI } from "../../src/protocols/sage/chain/registry-abi.js";

/** Each entry as text, without what only the compiler writes. */
function sorted(abi: readonly object[]): readonly string[] {
  return abi.map((entry) => JSON.stringify(sortKeys(entry))).sort();
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const kept = ([name, each]: [string, unknown]): boolean =>
    !["internalType", "anonymous"].includes(name) && !(name === "name" && each === "") && !(name === "indexed" && each === false);
  const entries = Object.entries(value).filter(kept);
  return Object.fromEntries(
    entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, each]) => [name, sortKeys(each)]),
  );
}

test("the typed interface is that of the compiled contract", () => {
  const { abi } = JSON.parse(readFileSync("src/protocols/sage/contracts/SageRegistry.json", "utf8"));
  expect(sorted(parseAbi(REGISTRY_ABI))).toEqual(sorted(abi));
});
