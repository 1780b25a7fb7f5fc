import { describe, expect, test } from "vitest";
import { contractRequirements } from "../conformance/index.js";
import { securedToy } from "./secured-toy/index.js";

/** What every protocol must do, done by one with signatures, seals and identities. */

describe("the contract, kept by the secured toy", () => {
  for (const { id, behaviour, check } of contractRequirements)
    test(`${id}: ${behaviour}`, async () => {
      await expect(check(securedToy)).resolves.toBeUndefined();
    });
});
