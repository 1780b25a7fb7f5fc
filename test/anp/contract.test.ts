import { describe, expect, test } from "vitest";
import { contractRequirements } from "../../conformance/index.js";
import { acp } from "../../src/protocols/acp/index.js";
import { agora } from "../../src/protocols/agora/index.js";
import { anp } from "../../src/protocols/anp/index.js";

import { runMatrix } from "../gateway/pairs/matrix.js";

describe("the contract, kept by ANP", () => {
  for (const { id, behaviour, check } of contractRequirements)
    test(`${id}: ${behaviour}`, async () => {
      await expect(check(anp)).resolves.toBeUndefined();
    });
});

test("the compatibility matrix takes ANP as listener and upstream, and misses no loss", async () => {
  const { cells, interfaces } = await runMatrix([acp, agora, anp]);
  const own = ["anp 1.2 WS", "anp 1.2 JSONRPC"];
  expect(interfaces).toEqual(expect.arrayContaining(own));
  expect(cells).toHaveLength(interfaces.length ** 2);
  const native = { unary: "native", stream: "native", task: "native", cancel: "native", input: "native" };
  const among = cells.filter(({ listener, upstream }) => own.includes(listener) && own.includes(upstream));
  expect(among.map(({ marks, losses }) => [marks, losses])).toEqual(own.flatMap(() => own.map(() => [native, []])));
}, 60_000);
