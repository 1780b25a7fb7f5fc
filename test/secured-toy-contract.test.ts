import { describe, expect, test } from "vitest";
import { contractRequirements } from "../conformance/index.js";
import { acp } from "../src/protocols/acp/index.js";
import { agora } from "../src/protocols/agora/index.js";
import { runMatrix } from "./gateway/pairs/matrix.js";
import { securedToy } from "./secured-toy/index.js";

/** What every protocol must do, done by one with signatures, seals and identities. */

describe("the contract, kept by the secured toy", () => {
  for (const { id, behaviour, check } of contractRequirements)
    test(`${id}: ${behaviour}`, async () => {
      await expect(check(securedToy)).resolves.toBeUndefined();
    });
});

test("the compatibility matrix takes the toy as listener and upstream, and misses no loss", async () => {
  const { cells, interfaces } = await runMatrix([acp, agora, securedToy]);
  const own = cells.find(({ listener, upstream }) => listener === "secured-toy 1 WS" && upstream === listener);
  expect(cells).toHaveLength(interfaces.length ** 2);
  expect(own?.marks).toEqual({ unary: "native", stream: "native", task: "native", cancel: "native", input: "native" });
}, 60_000);
