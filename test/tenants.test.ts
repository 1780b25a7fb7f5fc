import { SignJWT } from "jose";
import { afterEach, expect, test } from "vitest";
import { agent, type ServeOptions, type Server, serve } from "../src/index.js";
import { bearerTokens, jwtTokens } from "../src/public/auth.js";

/** Who may name which tenant (A2A 1.0: the `tenant` of a request, or the first segment of its path). */

const TOKEN = "token-of-ann-0123456789";
const SHARED = "0123456789abcdef0123456789abcdef";
const ISSUER = "https://issuer.example";

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function statusIn(tenant: string, options: ServeOptions, authorization: string): Promise<number> {
  const server = await serve(agent({ name: "echo", description: "", handle: () => "hello" }), { port: 0, ...options });
  open.push(server);
  const path = tenant === "" ? "/a2a/tasks" : `/a2a/${tenant}/tasks`;
  return (await fetch(`${server.url}${path}`, { headers: { "a2a-version": "1.0", authorization } })).status;
}

const tokens = { admission: bearerTokens(new Map([["ann", TOKEN]])) };

test.each([
  ["no tenant", "", tokens, 200],
  ["a tenant that nobody granted", "acme", tokens, 403],
  ["a tenant granted to it", "acme", { ...tokens, tenants: { ann: ["acme"] } }, 200],
  ["a tenant granted to another caller", "acme", { ...tokens, tenants: { bob: ["acme"] } }, 403],
  ["another tenant than the granted one", "other", { ...tokens, tenants: { ann: ["acme"] } }, 403],
  ["any tenant without authentication", "acme", {}, 200],
  ["a tenant that is too long", "x".repeat(513), {}, 413],
])("a caller that names %s", async (_, tenant, options, status) => {
  expect(await statusIn(tenant, options, `Bearer ${TOKEN}`)).toBe(status);
});

test.each([
  ["acme", 200],
  ["beta", 200],
  ["other", 403],
])("a token with a list of tenants grants those: %s", async (tenant, status) => {
  const admission = jwtTokens({ issuer: ISSUER, audience: "koine", jwks: { sharedSecret: SHARED }, tenantClaim: "orgs" });
  const token = await new SignJWT({ orgs: ["acme", "beta"] })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setAudience("koine")
    .setSubject("ann")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(SHARED));
  expect(await statusIn(tenant, { admission }, `Bearer ${token}`)).toBe(status);
});
