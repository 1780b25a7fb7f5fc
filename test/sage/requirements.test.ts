import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identifiedCaller } from "../../conformance/index.js";
import { agent, serve } from "../../src/index.js";
import { CONFORMANCE_AREAS, type Subject } from "../../src/protocols/requirement.js";
import { requirements } from "../../src/protocols/sage/requirements.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { wholeBody } from "../../src/transport/body.js";
import type { Exchange, HttpResponse } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { PROTOCOLS, SageWorld, SETTINGS } from "./world.js";

/** The requirements of SAGE, met by a server with an identity, and skipped at one without. */

const world = new SageWorld();
const link = poolLink();
const subject = (url: string): Subject => ({ url, exchange: link.exchange, headers: {}, newId: () => crypto.randomUUID() });
let url: string;
let identity: LocalIdentity;
beforeAll(async () => {
  ({ url } = await world.serve());
  identity = await world.register();
});

/** The subject with an identity that the registry has. */
function identified(exchange: Exchange = link.exchange): Subject {
  const options = { settings: SETTINGS, records: world.store.records };
  return { ...subject(url), exchange, caller: identifiedCaller({ url, identity, exchange, options }) };
}
const callers = requirements.filter(({ id }) => id.includes(":caller:"));
afterAll(async () => {
  await world.close();
  await link.close();
});

describe("a server of SAGE", () => {
  test.each(requirements.map(({ id, behaviour, check }) => [id, behaviour, check] as const))(
    "%s: %s",
    async (_id, _behaviour, check) => {
      await expect(check(identified())).resolves.toBeUndefined();
    },
  );

  test("what needs an identity is skipped without one", async () => {
    for (const { check } of callers)
      expect(await check(subject(url))).toEqual({ skipped: "this run has no identity (--identity)" });
  });

  test("the checks of callers are in all areas", () => {
    expect(new Set(callers.map(({ capability }) => capability))).toEqual(new Set(CONFORMANCE_AREAS));
  });

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

  test("that opens what is replayed or changed would be found", async () => {
    // In place of a careless server: one that gets back every request as it was signed, and answers what it answered before.
    const answered = new Map<string, HttpResponse>();
    const careless: Exchange = async (request) => {
      const name = `${request.method} ${request.headers["signature"] ?? ""}`;
      const known = answered.get(name);
      if (known !== undefined) return known;
      const response = await link.exchange(request);
      const body = await wholeBody(response.body, 1_000_000);
      const { status, headers } = response;
      const whole = { status, headers, body };
      if (request.method === "POST") answered.set(name, whole);
      return whole;
    };
    const replay = callers.find(({ id }) => id.endsWith("caller:replay"));
    await expect(replay?.check(identified(careless))).rejects.toThrow("answered");
  });
});
