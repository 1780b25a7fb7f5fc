import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { makeRequest } from "../transport/request.js";
import { bearerTokens, openAdmission } from "./admission.js";
import { anyOf, mergeSecurity } from "./any-of.js";
import { apiKeys } from "./api-keys.js";
import { clientCertificates } from "./client-certificates.js";
import { jwtTokens } from "./jwt-tokens.js";

const TOKEN = "token-of-ann-0123456789";
const KEY = "key-of-bob-0123456789";
const tokens = bearerTokens(new Map([["ann", TOKEN]]));
const keys = apiKeys(new Map([["bob", KEY]]), { location: "header", name: "X-Api-Key" });
const asking = (headers: Record<string, string>) => makeRequest({ method: "POST", url: "http://x/", headers });
async function refusal(run: () => unknown): Promise<AgentError> {
  try {
    await run();
  } catch (thrown) {
    return AgentError.from(thrown);
  }
  throw new Error("it was let in");
}

describe("anyOf()", () => {
  const admit = anyOf(keys, tokens, clientCertificates());

  test("admits by each credential", () => {
    expect(admit(asking({ "x-api-key": KEY }))).toMatchObject({ owner: "key:bob" });
    expect(admit(asking({ authorization: `Bearer ${TOKEN}` }))).toMatchObject({ owner: "bearer:ann" });
  });

  test("does not try a wrong credential as another one", async () => {
    const both = asking({ "x-api-key": "wrong-key-wrong-key", authorization: `Bearer ${TOKEN}` });
    expect((await refusal(() => admit(both))).message).toBe("unknown API key");
  });

  test("lists accepted schemes, with every challenge", async () => {
    const error = await refusal(() => admit(asking({})));
    expect(error).toMatchObject({ code: "unauthenticated", facts: { head: { "www-authenticate": 'Bearer realm="koine"' } } });
    expect(error.message).toBe(
      "this agent requires an API key in the header field X-Api-Key, or a bearer token, or a TLS client certificate",
    );
    const wrongKey = await refusal(() => admit(asking({ "x-api-key": "wrong-key-wrong-key" })));
    expect(wrongKey.facts.head).toEqual({ "www-authenticate": 'Bearer realm="koine"' });
    const wrongToken = await refusal(() => admit(asking({ authorization: "Bearer wrong-token-wrong" })));
    expect(wrongToken.facts.head?.["www-authenticate"]).toMatch(/^Bearer realm="koine", error="invalid_token"/);
  });

  test("routes a token to the issuer it names, and others to static tokens", async () => {
    const jwt = (issuer: string) => jwtTokens({ issuer, audience: "a", jwks: { sharedSecret: "x".repeat(32) } });
    const several = anyOf(jwt("https://one.example"), jwt("https://two.example"), tokens);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const tokenOf = (iss: string) => `${encode({ alg: "HS256" })}.${encode({ iss })}.AAAA`;
    const say = async (token: string) => (await refusal(() => several(asking({ authorization: `Bearer ${token}` })))).message;
    expect(await say(tokenOf("https://two.example"))).toBe("the signature of the token is invalid");
    expect(await say(tokenOf("https://three.example"))).toBe("unknown bearer token");
    expect(several(asking({ authorization: `Bearer ${TOKEN}` }))).toMatchObject({ id: "ann" });
  });

  test("refuses an order in which some could never apply", () => {
    expect(() => anyOf(openAdmission(), tokens)).toThrow("must come last");
    expect(() => anyOf()).toThrow("every caller would be refused");
    const optional = anyOf(tokens, openAdmission());
    expect([optional.open, optional(asking({}))]).toMatchObject([true, { id: "anonymous" }]);
    expect(optional.security?.anyOf).toEqual([{ bearer: [] }, {}]);
  });

  test("can be one of several itself", () => {
    const nested = anyOf(anyOf(keys), tokens);
    expect(nested(asking({ authorization: `Bearer ${TOKEN}` }))).toMatchObject({ id: "ann" });
  });
});

describe("mergeSecurity()", () => {
  const named = (name: string) => ({
    schemes: { apiKey: { apiKeySecurityScheme: { location: "header", name } } },
    anyOf: [{ apiKey: [] }],
  });

  test("renames schemes that differ, and merges equal ones", () => {
    expect(mergeSecurity([named("X-A"), named("X-B"), named("X-A")])).toEqual({
      schemes: { apiKey: named("X-A").schemes.apiKey, apiKey2: named("X-B").schemes.apiKey },
      anyOf: [{ apiKey: [] }, { apiKey2: [] }],
    });
  });
});
