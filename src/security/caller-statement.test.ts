import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { ownerOf, type Principal } from "../envelope/index.js";
import { makeRequest } from "../transport/request.js";
import { bearerTokens } from "./admission.js";
import { CALLER_HEADER, callerStatements, type TrustedGateway, trustGateway } from "./caller-statement.js";
import { cardSigner } from "./card-signature.js";
import { newCardKey } from "./signing-key.js";

const KEY = newCardKey("EdDSA", "gateway-1");
const ISSUER = "https://gateway.example";
const UPSTREAM = "https://orders.example";
const NOW = 1_700_000_000_000;
const GATEWAY_TOKEN = "the-gateways-own-token-0123";
const ANN: Principal = { id: "ann", scheme: "bearer", scopes: [], owner: ownerOf("bearer", "ann") };

let count = 0;
const ids = { now: () => NOW, newId: () => `statement-${++count}` };
const state = callerStatements({ signer: cardSigner({ key: KEY.privateJwk }), issuer: ISSUER }, ids);

const gateways = bearerTokens(
  new Map([
    ["gateway", GATEWAY_TOKEN],
    ["mallory", "mallorys-own-token-01234"],
  ]),
);
function admission(more: Partial<TrustedGateway> = {}) {
  const trusted = { issuer: ISSUER, audience: UPSTREAM, jwks: { keys: [KEY.publicJwk] }, now: () => NOW, ...more };
  return trustGateway(gateways, ({ id }) => id === "gateway", trusted);
}
const asking = (statement?: string, token = GATEWAY_TOKEN) =>
  makeRequest({ method: "POST", url: "/", headers: { authorization: `Bearer ${token}`, [CALLER_HEADER]: statement } });

describe("a statement about a caller", () => {
  it("is a JWT that other libraries read, for one audience and for a minute", async () => {
    const keys = createLocalJWKSet({ keys: [KEY.publicJwk] } as unknown as JSONWebKeySet);
    const { payload } = await jwtVerify(state(ANN, UPSTREAM), keys, {
      issuer: ISSUER,
      audience: UPSTREAM,
      currentDate: new Date(NOW),
    });
    expect(payload).toMatchObject({ sub: "bearer:ann", iat: NOW / 1000, exp: NOW / 1000 + 60, jti: expect.any(String) });
    const later = { issuer: ISSUER, audience: UPSTREAM, currentDate: new Date(NOW + 61_000) };
    await expect(jwtVerify(state(ANN, UPSTREAM), keys, later)).rejects.toThrow("exp");
  });

  it("replaces the gateway by its stated caller", async () => {
    expect(await admission()(asking(state(ANN, UPSTREAM)))).toMatchObject({ id: `${ISSUER}#bearer:ann`, scheme: "bearer" });
    expect(await admission()(asking())).toMatchObject({ id: "gateway" });
  });

  it("keeps callers apart", async () => {
    const bob = { ...ANN, id: "bob", owner: ownerOf("bearer", "bob") };
    const [one, other] = await Promise.all([ANN, bob].map((who) => admission()(asking(state(who, UPSTREAM)))));
    expect(one?.owner).not.toBe(other?.owner);
  });

  it.each([
    ["by another gateway", () => state(ANN, UPSTREAM), { issuer: "https://other.example" }, "another issuer"],
    ["for another agent", () => state(ANN, "https://elsewhere.example"), {}, "another audience"],
    ["that is over", () => state(ANN, UPSTREAM), { now: () => NOW + 100_000 }, "expired"],
    ["by another key", () => state(ANN, UPSTREAM), { jwks: { keys: [newCardKey("EdDSA", "gateway-1").publicJwk] } }, "signature"],
    ["that is none", () => "ann", {}, "not a valid JWT"],
  ])("is refused %s", async (_which, statement, more, words) => {
    await expect(admission(more)(asking(statement()))).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringMatching(new RegExp(`caller statement is invalid.*${words}`)),
    });
  });

  it("is refused with a secret instead of a key", async () => {
    const forged = await new SignJWT({ sub: "bearer:ann" })
      .setProtectedHeader({ alg: "HS256", kid: KEY.kid })
      .setIssuer(ISSUER)
      .setAudience(UPSTREAM)
      .setExpirationTime(NOW / 1000 + 60)
      .sign(new TextEncoder().encode(JSON.stringify(KEY.publicJwk)));
    await expect(admission()(asking(forged))).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("authenticates no caller by itself, and is accepted only from the gateway", async () => {
    const admit = async (token: string) => admission()(asking(state(ANN, UPSTREAM), token));
    await expect(admit("no-token-that-is-known")).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(admit("mallorys-own-token-01234")).rejects.toMatchObject({
      code: "forbidden",
      message: "only the gateway may state its caller",
    });
  });
});
