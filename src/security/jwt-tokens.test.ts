import { generateKeyPairSync, sign as signBytes, type webcrypto } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { AgentError, JsonObject } from "../envelope/index.js";
import { makeRequest } from "../transport/request.js";
import { type JwtOptions, jwtTokens } from "./jwt-tokens.js";

const ISSUER = "https://issuer.example";
const AUDIENCE = "https://agent.example";
const START_MS = Date.parse("2026-01-31T12:00:00Z");
const SECOND = 1_000;

interface Pair {
  readonly privateKey: webcrypto.CryptoKey;
  readonly jwk: JWK;
}

async function makePair(kid: string, alg = "ES256"): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

let first: Pair;
let second: Pair;
beforeAll(async () => {
  [first, second] = [await makePair("first"), await makePair("second")];
});

/** An issuer with a real port: its answer can be changed, and its questions are counted. */
let issuer: Server | undefined;
let asked = 0;
let answer: (response: ServerResponse) => void;
const publish =
  (...keys: readonly JWK[]) =>
  (response: ServerResponse): void =>
    void response.end(JSON.stringify({ keys }));

async function issuing(): Promise<string> {
  asked = 0;
  answer = publish(first.jwk);
  issuer = createServer((_request, response) => {
    asked++;
    answer(response);
  });
  await new Promise<void>((resolve) => issuer?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`;
}
afterEach(async () => {
  issuer?.closeAllConnections();
  await new Promise((resolve) => (issuer === undefined ? resolve(undefined) : issuer.close(resolve)));
  issuer = undefined;
});

let nowMs = START_MS;
const admitting = (options: Partial<JwtOptions> = {}) => {
  nowMs = START_MS;
  const jwks = { keys: [first.jwk as JsonObject] };
  return jwtTokens({ issuer: ISSUER, audience: AUDIENCE, jwks, clockSkewMs: 5 * SECOND, now: () => nowMs, ...options });
};

interface TokenFacts {
  readonly pair?: Pair;
  readonly claims?: JWTPayload;
  readonly header?: JsonObject;
}
function sign({ pair = first, claims = {}, header = {} }: TokenFacts = {}): Promise<string> {
  const seconds = START_MS / SECOND;
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: "client-7", exp: seconds + 300, iat: seconds, ...claims };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: pair.jwk.alg ?? "", kid: pair.jwk.kid ?? "", ...header })
    .sign(pair.privateKey);
}
const bearing = (token: string) =>
  makeRequest({ method: "POST", url: "http://x/", headers: { authorization: `Bearer ${token}` } });

async function refusalOf(admit: ReturnType<typeof jwtTokens>, token: string): Promise<AgentError> {
  try {
    await admit(bearing(token));
  } catch (thrown) {
    return thrown as AgentError;
  }
  throw new Error("it was let in");
}

describe("jwtTokens()", () => {
  test("identifies the caller by issuer and subject, with its scopes and tenant", async () => {
    const admit = admitting({ tenantClaim: "org" });
    const token = await sign({ claims: { scope: "read write", org: "acme" } });
    expect(await admit(bearing(token))).toEqual({
      id: `${ISSUER}#client-7`,
      scheme: "bearer",
      tenant: "acme",
      scopes: ["read", "write"],
      owner: `bearer@4:acme:${ISSUER}#client-7`,
    });
  });

  test("does not use RSA keys under 2,048 bits", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
    const weak = { ...(publicKey.export({ format: "jwk" }) as JsonObject), kid: "weak", alg: "RS256", use: "sig" };
    expect(() => admitting({ jwks: { keys: [weak] } })).toThrow("RSA keys need 2048 bits");
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: "mallory", exp: START_MS / SECOND + 300 };
    const input = `${encode({ alg: "RS256", kid: "weak" })}.${encode(claims)}`;
    const token = `${input}.${signBytes("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
    const both = admitting({ jwks: { keys: [weak, first.jwk as JsonObject] } });
    expect(await refusalOf(both, token)).toMatchObject({
      code: "unauthenticated",
      message: "the token is signed with a key that its issuer does not publish",
    });
    await expect(both(bearing(await sign()))).resolves.toMatchObject({ scheme: "bearer" });
  });

  test("answers at once for a token it has verified, until that expires", async () => {
    const admit = admitting({ limits: { verifiedMs: 3_600_000 } });
    const token = await sign();
    await admit(bearing(token));
    expect(admit(bearing(token))).not.toBeInstanceOf(Promise);
    nowMs += 306 * SECOND;
    expect((await refusalOf(admit, token)).message).toBe("the token has expired");
  });

  for (const [words, facts] of [
    ["the token has expired", { claims: { exp: START_MS / SECOND - 6 } }],
    ["the token is not valid yet", { claims: { nbf: START_MS / SECOND + 6 } }],
    ["the token is meant for another audience", { claims: { aud: "https://other.example" } }],
    ["the token is from another issuer", { claims: { iss: "https://other.example" } }],
    ["the token has no sub claim", { claims: { sub: undefined } }],
    ["the token has no exp claim", { claims: { exp: undefined } }],
    ["the sub claim of the token is not usable as a caller name", { claims: { sub: "" } }],
    ["the token is signed with a key that its issuer does not publish", { header: { kid: "third" } }],
  ] as const)
    test(`says: ${words}`, async () => {
      const token = await sign(facts as TokenFacts);
      const error = await refusalOf(admitting(), token);
      expect(error).toMatchObject({ code: "unauthenticated", message: words });
      expect(error.facts.head?.["www-authenticate"]).toBe(
        `Bearer realm="koine", error="invalid_token", error_description="${words}"`,
      );
      expect(inspect(error, { depth: 9 })).not.toContain(token.split(".")[2]);
    });

  test("allows for clocks that differ a little, and no more", async () => {
    await expect(admitting()(bearing(await sign({ claims: { exp: START_MS / SECOND - 4 } })))).resolves.toMatchObject({});
    await expect(admitting()(bearing(await sign({ claims: { nbf: START_MS / SECOND + 4 } })))).resolves.toMatchObject({});
  });

  test("refuses a signature by another key of that name, and text that is no token", async () => {
    const forged = await sign({ pair: { ...second, jwk: first.jwk } });
    expect((await refusalOf(admitting(), forged)).message).toBe("the signature of the token is invalid");
    expect((await refusalOf(admitting(), "a.b.c")).message).toBe("the token is not a valid JWT");
    expect((await refusalOf(admitting(), "no token at all")).message).toBe("the token is not a valid JWT");
  });

  test("rejects an unsigned token, and one signed with the public key as a secret", async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: "root", exp: START_MS / SECOND + 300 };
    const none = `${encode({ alg: "none" })}.${encode(claims)}.`;
    const secret = new TextEncoder().encode(JSON.stringify(first.jwk).padEnd(64, " "));
    const confused = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(secret);
    for (const token of [none, confused])
      expect((await refusalOf(admitting(), token)).message).toBe("the signature algorithm of the token is not accepted");
  });

  test("uses a shared secret only if configured, and then no other signature", async () => {
    const sharedSecret = "a-secret-of-at-least-32-characters";
    const admit = admitting({ jwks: { sharedSecret } });
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: "client-7", exp: START_MS / SECOND + 300 };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(sharedSecret));
    await expect(admit(bearing(token))).resolves.toMatchObject({ id: `${ISSUER}#client-7` });
    expect((await refusalOf(admit, await sign())).message).toBe("the signature algorithm of the token is not accepted");
    expect(() => admitting({ jwks: { sharedSecret: "short" } })).toThrow("at least 32 characters");
    for (const algorithm of ["none", "HS256", "RS1"])
      expect(() => admitting({ algorithms: [algorithm] })).toThrow("is not supported");
  });

  test("forbids a caller without the scope, and names it", async () => {
    const admit = admitting({ requiredScopes: ["call", "stream"] });
    const error = await refusalOf(admit, await sign({ claims: { scp: ["call"] } }));
    expect(error).toMatchObject({ code: "forbidden", message: "the token lacks the scope stream" });
    expect(error.facts.head?.["www-authenticate"]).toContain('error="insufficient_scope"');
    expect(error.facts.head?.["www-authenticate"]).toContain('scope="call stream"');
    await expect(admit(bearing(await sign({ claims: { scp: ["call", "stream"] } })))).resolves.toMatchObject({
      scheme: "bearer",
    });
  });

  test("tries every key when the token names none", async () => {
    const admit = admitting({ jwks: { keys: [first.jwk as JsonObject, second.jwk as JsonObject] } });
    await expect(
      admit(bearing(await sign({ pair: second, header: { kid: undefined } as unknown as JsonObject }))),
    ).resolves.toMatchObject({});
  });

  test("an unusable key is skipped without affecting the others", async () => {
    const broken = { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "broken", alg: "ES256" };
    const admit = admitting({ jwks: { keys: [broken, first.jwk as JsonObject] } });
    const refusal = await refusalOf(admit, await sign({ header: { kid: "broken" } }));
    expect([refusal.code, refusal.message]).toEqual(["unauthenticated", "the key of the token is not usable"]);
    const unnamed = { kid: undefined } as unknown as JsonObject;
    await expect(admit(bearing(await sign({ header: unnamed })))).resolves.toMatchObject({ id: `${ISSUER}#client-7` });
    const stranger = await refusalOf(admit, await sign({ pair: second, header: unnamed }));
    expect(stranger.message).toBe("the signature of the token is invalid");
  });

  test("rejects an issuer whose callers could be mistaken for another's", () => {
    expect(() => admitting({ issuer: "https://issuer.example#a" })).toThrow("issuer");
    expect(() => admitting({ issuer: "" })).toThrow("issuer");
  });

  test("declares on the card where tokens are issued", () => {
    expect(admitting().security).toEqual({
      schemes: { jwt: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } } },
      anyOf: [{ jwt: [] }],
    });
    const tokenUrl = "https://issuer.example/token";
    const oauth2 = admitting({ requiredScopes: ["call"], declare: { kind: "clientCredentials", tokenUrl } }).security;
    expect(oauth2).toEqual({
      schemes: { oauth2: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: { call: "" } } } } } },
      anyOf: [{ oauth2: ["call"] }],
    });
    const url = "https://issuer.example/.well-known/openid-configuration";
    expect(admitting({ declare: { kind: "openIdConnect", url } }).security).toEqual({
      schemes: { openIdConnect: { openIdConnectSecurityScheme: { openIdConnectUrl: url } } },
      anyOf: [{ openIdConnect: [] }],
    });
  });
});

describe("an issuer's keys by URL", () => {
  test("are fetched once for many tokens, also when these come at once", async () => {
    const admit = admitting({ jwks: { url: await issuing() } });
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => sign({ claims: { sub: `c${index}` } })));
    await Promise.all(tokens.map((token) => admit(bearing(token))));
    expect(asked).toBe(1);
  });

  test("are fetched again for a key we do not have, once per cooldown", async () => {
    const notes: string[] = [];
    const limits = { cooldownMs: 30_000, verifiedMs: 0 };
    const admit = admitting({ jwks: { url: await issuing() }, limits, onKeys: ({ event }) => notes.push(event) });
    await admit(bearing(await sign()));
    answer = publish(second.jwk);
    const rotated = await sign({ pair: second });
    expect((await refusalOf(admit, rotated)).message).toBe("the token is signed with a key that its issuer does not publish");
    expect(asked).toBe(1);
    nowMs += 30_000;
    await expect(admit(bearing(rotated))).resolves.toMatchObject({ id: `${ISSUER}#client-7` });
    expect([asked, notes]).toEqual([2, ["key.loaded", "key.rotated"]]);
    await refusalOf(admit, await sign());
    await refusalOf(admit, await sign({ header: { kid: "third" } }));
    expect(asked).toBe(2);
  });

  test("that are unavailable make the agent unavailable, not the caller unauthenticated", async () => {
    const limits = { fetchMs: 200, retryMs: 1_000, keysBytes: 4_096, keys: 3 };
    const url = await issuing();
    for (const bad of [
      (response: ServerResponse) => void response.destroy(),
      (response: ServerResponse) => void response.writeHead(500).end(),
      (response: ServerResponse) => void response.writeHead(302, { location: url }).end(),
      (response: ServerResponse) => void response.end("<html>"),
      (response: ServerResponse) => void response.end(JSON.stringify({ keys: [{ kty: "oct", k: "AA" }] })),
      publish(first.jwk, first.jwk, first.jwk, first.jwk),
      publish({ ...first.jwk, x5u: "x".repeat(5_000) }),
      (response: ServerResponse) => void response.write("{"), // and never the rest
    ]) {
      answer = bad;
      const admit = admitting({ jwks: { url }, limits });
      const before = asked;
      expect(await refusalOf(admit, await sign())).toMatchObject({ code: "unavailable", facts: { retryAfterMs: 1_000 } });
      expect((await refusalOf(admit, await sign())).code).toBe("unavailable");
      expect(asked - before).toBe(1);
      answer = publish(first.jwk);
      nowMs += 1_000;
      await expect(admit(bearing(await sign()))).resolves.toMatchObject({ scheme: "bearer" });
    }
  });

  test("stay in use for a while when the issuer is unavailable", async () => {
    const limits = { keysMs: 10_000, staleKeysMs: 60_000, retryMs: 1_000, verifiedMs: 0 };
    const admit = admitting({ jwks: { url: await issuing() }, limits });
    await admit(bearing(await sign()));
    answer = (response) => void response.destroy();
    nowMs += 20_000;
    await expect(admit(bearing(await sign()))).resolves.toMatchObject({ scheme: "bearer" });
    nowMs += 41_000;
    expect((await refusalOf(admit, await sign())).code).toBe("unavailable");
  });
});
