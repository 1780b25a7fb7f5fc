import { describe, expect, test } from "vitest";
import { contractRequirements } from "../../conformance/index.js";
import { anp } from "../../src/protocols/anp/index.js";

describe("the contract, kept by ANP", () => {
  for (const { id, behaviour, check } of contractRequirements)
    test(`${id}: ${behaviour}`, async () => {
      await expect(check(anp)).resolves.toBeUndefined();
    });
});
