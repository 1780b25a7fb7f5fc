import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../policies/index.js";
import { jwtTokens } from "../security/index.js";
import { agent } from "../server/agent.js";
import { serve } from "../server/serve.js";
import { connect } from "./connect.js";
import { isAtOrigin } from "./credentials.js";
import { DiscoveryCache } from "./discovery-cache.js";

/** A client with an id and a secret, a token endpoint with a port of its own, and an agent that believes its tokens. */

const ISSUER = "https://issuer.example";
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
beforeAll(async () => {
  keys = await generateKeyPair("ES256", { extractable: true });
});

interface Question {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

/** Gives out tokens and keys; both answers can be changed by a test. */
async function issuing() {
  const asked: Question[] = [];
  const state = {
    asked,
    secondsToLive: 300,
    answer: undefined as ((response: ServerResponse) => void) | undefined,
    url: "",
  };
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", async () => {
      const { url: path = "", headers } = request;
      if (path === "/keys") return response.end(JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: "one" }] }));
      asked.push({ path, authorization: headers.authorization ?? "", body: Buffer.concat(pieces).toString() });
      if (state.answer !== undefined) return state.answer(response);
      const expires = Math.floor(Date.now() / 1000) + state.secondsToLive;
      const token = await new SignJWT({ sub: "client-7", scope: "call", jti: String(asked.length) })
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(ISSUER)
        .setAudience("koine")
        .setExpirationTime(expires)
        .sign(keys.privateKey);
      return response.end(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 300 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

async function serving(issuerUrl: string) {
  const admission = jwtTokens({
    issuer: ISSUER,
    audience: "koine",
    jwks: { url: `${issuerUrl}/keys` },
    requiredScopes: ["call"],
    clockSkewMs: 0,
    limits: { verifiedMs: 0 },
    declare: { kind: "clientCredentials", tokenUrl: `${issuerUrl}/token` },
  });
  const server = await serve(agent({ name: "echo", description: "says it again", handle: async (message) => message.text }), {
    admission,
  });
  cleanups.push(() => server.close());
  return server;
}

/** The system's, and ahead of it when a test says so. */
let aheadMs = 0;
const clock = { ...systemClock, now: () => Date.now() + aheadMs };
const client = { clientId: "client 7", clientSecret: "s3cret:/+" };
async function connected(url: string, oauth2: { clientId: string; clientSecret: string; tokenUrl?: string }) {
  const peer = await connect(url, { credentials: { oauth2 }, discoveryCache: new DiscoveryCache(), clock });
  cleanups.push(() => peer.close());
  return peer;
}

describe("client credentials", () => {
  test("are used again shortly before the token expires, not sooner", async () => {
    const issuer = await issuing();
    const { url } = await serving(issuer.url);
    const peer = await connected(url, { ...client, tokenUrl: `${issuer.url}/token` });
    await peer.ask("hello");
    aheadMs += 230_000;
    await peer.ask("hello");
    expect(issuer.asked).toHaveLength(1);
    aheadMs += 15_000;
    await peer.ask("hello");
    expect(issuer.asked).toHaveLength(2);
  });

  test("yield a token that is fetched once, with the scope the card requires, and used by all calls", async () => {
    const issuer = await issuing();
    const { url } = await serving(issuer.url);
    const peer = await connected(url, { ...client, tokenUrl: `${issuer.url}/token` });
    expect(await Promise.all(Array.from({ length: 10 }, (_, index) => peer.ask(`hello ${index}`)))).toContain("hello 9");
    // RFC 6749 §2.3.1 and §4.4.2: both parts form-encoded, then Basic; the grant in the body.
    expect(issuer.asked).toEqual([
      {
        path: "/token",
        authorization: `Basic ${Buffer.from("client+7:s3cret%3A%2F%2B").toString("base64")}`,
        body: "grant_type=client_credentials&scope=call",
      },
    ]);
  });

  test("are used once more when the agent rejects the token", async () => {
    const issuer = await issuing();
    const { url } = await serving(issuer.url);
    const peer = await connected(url, { ...client, tokenUrl: `${issuer.url}/token` });
    issuer.secondsToLive = -10; // the endpoint says 300, and lies
    await expect(peer.ask("hello")).rejects.toMatchObject({ code: "unauthenticated", message: "the token has expired" });
    expect(issuer.asked).toHaveLength(2);
    issuer.secondsToLive = 300;
    expect(await peer.ask("hello")).toBe("hello");
    expect(issuer.asked).toHaveLength(3);
  });

  test("are not sent to a token endpoint that only the card names", async () => {
    const issuer = await issuing();
    const { url } = await serving(issuer.url);
    const peer = await connected(url, client);
    await expect(peer.ask("hello")).rejects.toMatchObject({ code: "unauthenticated", facts: { sent: "no" } });
    expect(issuer.asked).toEqual([]);
    expect(peer.card.name).toBe("echo");
  });

  for (const [words, code, answer] of [
    ["refuses", "unauthenticated", (response: ServerResponse) => void response.writeHead(401).end('{"error":"invalid_client"}')],
    ["is broken", "unavailable", (response: ServerResponse) => void response.writeHead(500).end()],
    ["hangs up", "unavailable", (response: ServerResponse) => void response.destroy()],
    [
      "redirects",
      "unavailable",
      (response: ServerResponse) => void response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
    ],
    ["answers with far too much", "unavailable", (response: ServerResponse) => void response.end("x".repeat(100_000))],
    ["answers with something else", "bad_peer", (response: ServerResponse) => void response.end('{"access_token":"a b"}')],
    [
      "gives a token that would break the header",
      "bad_peer",
      (response: ServerResponse) => void response.end('{"access_token":"a\\r\\nx: y","token_type":"bearer"}'),
    ],
  ] as const)
    test(`an endpoint that ${words} is reported as ${code}, and nothing was sent`, async () => {
      const issuer = await issuing();
      const { url } = await serving(issuer.url);
      const peer = await connected(url, { ...client, tokenUrl: `${issuer.url}/token` });
      issuer.answer = answer;
      const failure = await peer.ask("hello").catch((thrown: unknown) => thrown);
      expect(failure).toMatchObject({ code, facts: { sent: "no" } });
      expect(String(failure)).not.toContain("s3cret");
      expect(issuer.asked).toHaveLength(1);
      issuer.answer = undefined;
      aheadMs += 1_000;
      expect(await peer.ask("hello")).toBe("hello");
    });

  test("a cancelled caller does not wait for a slow endpoint, and the others get the token", async () => {
    const issuer = await issuing();
    const { url } = await serving(issuer.url);
    const peer = await connected(url, { ...client, tokenUrl: `${issuer.url}/token` });
    let held: ServerResponse | undefined;
    const arrived = new Promise<void>((resolve) => {
      issuer.answer = (response) => {
        held = response;
        resolve();
      };
    });
    const controller = new AbortController();
    const impatient = peer.ask("hello", { signal: controller.signal });
    const patient = peer.ask("hello").catch((thrown: unknown) => thrown);
    await arrived;
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: "cancelled" });
    held?.writeHead(500).end();
    expect(await patient).toMatchObject({ code: "unavailable" });
    expect(issuer.asked).toHaveLength(1);
  });
});

test("an unsatisfied card requirement is reported before anything is sent; the public card needs no credentials", async () => {
  const issuer = await issuing();
  const { url } = await serving(issuer.url);
  const peer = await connect(url, { discoveryCache: new DiscoveryCache() });
  cleanups.push(() => peer.close());
  await expect(peer.ask("hello")).rejects.toMatchObject({
    code: "unauthenticated",
    message: expect.stringContaining("credentials.oauth2"),
    facts: { sent: "no" },
  });
  expect(await peer.health()).toBe(false);
  expect(peer.card.security.anyOf).toEqual([{ oauth2: ["call"] }]);
});

test("isAtOrigin() recognizes every spelling of the peer's address, and no other", () => {
  for (const [target, url, own] of [
    ["https://h/a2a?x=1", "https://h", true],
    ["https://h:443/a2a", "https://h/agents", true],
    ["https://H/a2a", "https://h", true],
    ["h:8443", "https://h:8443/agents", true],
    ["h:8443/lf.a2a.v1.A2AService/SendMessage", "https://h:8443", true],
    ["http://h/a2a", "https://h", false],
    ["https://h:444/a2a", "https://h", false],
    ["https://h.evil.example/", "https://h", false],
    ["https://h@evil.example/", "https://h", false],
    ["h:8444", "https://h:8443", false],
    ["evil.example:8443", "https://h:8443", false],
    ["/a2a", "https://h", false],
    ["https://h:444/a2a", "https://h", false],
    ["https://h:444/a2a", "https://h:444/", true],
    ["https://H:443/a2a", "https://h:444/", false],
    ["https://h:444/a2a", "not a URL", false],
    ["http://", "not a URL", false],
  ] as const)
    expect([target, isAtOrigin(target, url)]).toEqual([target, own]);
});
