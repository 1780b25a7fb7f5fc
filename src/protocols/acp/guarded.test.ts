import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { agent, type Credentials, connect, DiscoveryCache, serve } from "../../index.js";
import { type Admission, apiKeys, bearerTokens, jwtTokens } from "../../public/auth.js";
import { acp } from "./index.js";

/** A protected server that is used through ACP only: its manifest declares where the key belongs. */

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const SECRET = "k-0123456789abcdef0123456789abcdef";
const callers = new Map([["ada", SECRET]]);

async function ask(admission: Admission, credentials: Credentials): Promise<string> {
  const who = agent({ name: "who", description: "says who asks", handle: async (_, task) => task.caller });
  const server = await serve(who, { admission, protocols: [acp] });
  cleanups.push(() => server.close());
  const peer = await connect(server.url, { credentials, protocols: [acp], discoveryCache: new DiscoveryCache() });
  cleanups.push(() => peer.close());
  return peer.ask("who am I?");
}

describe("a guarded server", () => {
  test.each(["header", "query", "cookie"] as const)("accepts an API key in the %s its manifest names", async (location) => {
    const admission = apiKeys(callers, { location, name: "x-agent-key" });
    expect(await ask(admission, { apiKey: SECRET })).toBe("ada");
    await expect(ask(admission, {})).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(ask(admission, { apiKey: "k-another" })).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("accepts a bearer token", async () => {
    expect(await ask(bearerTokens(callers), { bearer: SECRET })).toBe("ada");
    await expect(ask(bearerTokens(callers), {})).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("accepts a token signed by an issuer", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const keys = [{ ...(await exportJWK(publicKey)), kid: "one" }] as never;
    const admission = jwtTokens({ issuer: "https://issuer.example", audience: "koine", jwks: { keys } });
    const bearer = await new SignJWT({ sub: "ada" })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setIssuer("https://issuer.example")
      .setAudience("koine")
      .setExpirationTime("5 minutes")
      .sign(privateKey);
    expect(await ask(admission, { bearer })).toBe("https://issuer.example#ada");
    await expect(ask(admission, { bearer: `${bearer}x` })).rejects.toMatchObject({ code: "unauthenticated" });
  });
});
