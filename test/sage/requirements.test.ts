import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, serve } from "../../src/index.js";
import { CONFORMANCE_AREAS, type Subject } from "../../src/protocols/requirement.js";
import { requirements } from "../../src/protocols/sage/requirements.js";
import { poolLink } from "../../src/transport/node/index.js";
import { PROTOCOLS, SageWorld } from "./world.js";

/** The requirements of SAGE, met by a server with an identity, and skipped at one without. */

const world = new SageWorld();
const link = poolLink();
const subject = (url: string): Subject => ({ url, exchange: link.exchange, headers: {}, newId: () => crypto.randomUUID() });
let url: string;
beforeAll(async () => {
  ({ url } = await world.serve());
});
afterAll(async () => {
  await world.close();
  await link.close();
});

describe("a server of SAGE", () => {
  test.each(requirements.map(({ id, behaviour, check }) => [id, behaviour, check] as const))(
    "%s: %s",
    async (_id, _behaviour, check) => {
      await expect(check(subject(url))).resolves.toBeUndefined();
    },
  );

  test("is checked in all areas", () => {
    expect(new Set(requirements.map(({ capability }) => capability))).toEqual(new Set(CONFORMANCE_AREAS));
  });

  test("without an identity is skipped", async () => {
    const plain = await serve(agent({ name: "plain", description: "plain", handle: () => "hello" }), {
      protocols: PROTOCOLS,
      port: 0,
    });
    const [first] = requirements;
    expect(await first?.check(subject(plain.url))).toEqual({ skipped: "the card does not declare SAGE" });
    await plain.close();
  });
});
