import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Admission,
  type AuditEntry,
  agent,
  anyOf,
  apiKeys,
  bearerTokens,
  type Credentials,
  clientCertificates,
  connect,
  type HostOptions,
  jwtTokens,
  mount,
  serve,
  Verdicts,
} from "../src/index.js";
import { makeAuthority } from "./certificates.js";

/** Every way to get in, over every binding, by our own client from the card alone; and who got in sees only its own tasks. */

const BINDINGS = ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON"] as const;
const secrets = new Map([
  ["ann", "secret-of-ann-0123456789"],
  ["bob", "secret-of-bob-0123456789"],
]);
const secretOf = (name: string): string => secrets.get(name) ?? "nobody-knows-this-secret";
const ISSUER = "https://issuer.example";
const SHARED = "a-secret-of-at-least-32-characters";
const tokenOf = (sub: string, claims: Record<string, string> = {}): Promise<string> =>
  new SignJWT({ sub, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setAudience("koine")
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(sub === "mallory" ? SHARED.toUpperCase() : SHARED));
const jwt = jwtTokens({ issuer: ISSUER, audience: "koine", jwks: { sharedSecret: SHARED } });

let authority: Awaited<ReturnType<typeof makeAuthority>>;
let stranger: Awaited<ReturnType<typeof makeAuthority>>;
beforeAll(async () => {
  [authority, stranger] = [await makeAuthority(), await makeAuthority("Another Authority")];
});

interface Scheme {
  readonly admission: Admission;
  readonly secure?: boolean;
  credentials(name: string): Promise<Credentials>;
}
const inPlace = (location: "header" | "query" | "cookie"): Scheme => ({
  admission: apiKeys(secrets, { location, name: "X-Key" }),
  credentials: async (name) => ({ apiKey: secretOf(name) }),
});
const withCertificate = async (name: string): Promise<Credentials> => {
  const signer = name === "mallory" ? stranger : authority;
  return { tls: { ca: authority.ca, ...(await signer.issue({ hosts: [`${name}.example`], client: true })) } };
};
const SCHEMES: { readonly [name: string]: Scheme } = {
  "a bearer token": { admission: bearerTokens(secrets), credentials: async (name) => ({ bearer: secretOf(name) }) },
  "an API key in a header": inPlace("header"),
  "an API key in the query": inPlace("query"),
  "an API key in a cookie": inPlace("cookie"),
  "a JWT": { admission: jwt, credentials: async (name) => ({ bearer: await tokenOf(name) }) },
  "a client certificate": { admission: clientCertificates(), secure: true, credentials: withCertificate },
  "the second of several": {
    admission: anyOf(clientCertificates(), apiKeys(secrets, { location: "header", name: "X-Key" }), jwt),
    credentials: async (name) => ({ apiKey: secretOf(name) }),
  },
};

const worker = agent({
  name: "worker",
  description: "makes tasks",
  async *handle(message, task) {
    yield task.working("busy");
    return `done: ${message.text}`;
  },
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(() => worker.closePeers());

async function serving({ admission, secure = false }: Scheme, more: HostOptions = {}): Promise<string> {
  if (!secure) {
    const server = await serve(worker, { admission, ...more });
    cleanups.push(() => server.close());
    return server.url;
  }
  const mounted = mount(worker, { admission, ...more });
  const pair = await authority.issue({ hosts: ["127.0.0.1"] });
  const options = { ...pair, ca: authority.ca, requestCert: true, rejectUnauthorized: false };
  const server = createTlsServer(options, mounted.listener);
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await mounted.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function connected(url: string, pin: string, credentials: Credentials) {
  const peer = await connect(url, { pin, credentials, verdicts: new Verdicts() });
  cleanups.push(() => peer.close());
  return peer;
}

for (const [words, scheme] of Object.entries(SCHEMES)) {
  describe(words, () => {
    for (const pin of BINDINGS) {
      test(`lets in by ${pin}, and shows nobody somebody else's task`, async () => {
        const url = await serving(scheme);
        const [ann, bob, mallory] = await Promise.all(
          ["ann", "bob", "mallory"].map(async (name) => connected(url, pin, await scheme.credentials(name))),
        );
        const answer = await ann?.send("hello");
        const id = answer?.kind === "task" ? answer.task.id : "";
        expect(await ann?.getTask(id)).toMatchObject({ id, status: { state: "completed" } });
        await expect(bob?.getTask(id)).rejects.toMatchObject({ code: "task_not_found" });
        await expect(bob?.cancelTask(id)).rejects.toMatchObject({ code: "task_not_found" });
        await expect(mallory?.getTask(id)).rejects.toMatchObject({
          code: "unauthenticated",
          message: expect.not.stringContaining("card"),
        });
      });
    }

    test("refuses a caller with nothing to show, in JSON-RPC and REST alike, and gives the card to everybody", async () => {
      const url = await serving(scheme);
      const tls = { ca: authority.ca };
      const { request } = await import(scheme.secure === true ? "node:https" : "node:http");
      const statusOf = (method: string, path: string): Promise<number> =>
        new Promise((resolve, reject) => {
          const headers = { "content-type": "application/json", "a2a-version": "1.0" };
          const sent = request(
            `${url}${path}`,
            { method, headers, ...tls },
            (response: { statusCode: number; resume(): void }) => {
              response.resume();
              resolve(response.statusCode);
            },
          );
          sent.on("error", reject);
          sent.end(method === "POST" ? '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}' : undefined);
        });
      expect(await statusOf("POST", "/a2a")).toBe(401);
      expect(await statusOf("GET", "/a2a/tasks/x")).toBe(401);
      expect(await statusOf("GET", "/.well-known/agent-card.json")).toBe(200);
    });
  });
}

describe("a tenant", () => {
  const admission = jwtTokens({ issuer: ISSUER, audience: "koine", jwks: { sharedSecret: SHARED }, tenantClaim: "org" });

  test("is part of the owner, cannot be changed by the caller, and a try is in the audit log", async () => {
    const entries: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void entries.push(entry), close: () => Promise.resolve() };
    const url = await serving({ admission, credentials: async () => ({}) }, { audit });
    const [acme, other] = await Promise.all(
      ["acme", "other"].map(async (org) => connected(url, BINDINGS[0], { bearer: await tokenOf("ann", { org }) })),
    );
    const answer = await acme?.send("hello");
    const id = answer?.kind === "task" ? answer.task.id : "";
    expect(id).not.toBe("");
    await expect(other?.getTask(id)).rejects.toMatchObject({ code: "task_not_found" });

    const authorization = `Bearer ${await tokenOf("ann", { org: "acme" })}`;
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const read = (path: string) => fetch(`${url}/a2a${path}`, { headers: { authorization, traceparent, "a2a-version": "1.0" } });
    expect((await read(`/acme/tasks/${id}`)).status).toBe(200);
    expect((await read(`/other/tasks/${id}?key=s3cret`)).status).toBe(403);
    expect(entries.filter(({ event }) => event === "refused")).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        event: "refused",
        who: `${ISSUER}#ann`,
        scheme: "bearer",
        what: `GET /a2a/other/tasks/${id}`,
        code: "forbidden",
        reason: expect.any(String),
        traceId: "0af7651916cd43dd8448eb211c80319c",
        remote: "127.0.0.1",
      },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/s3cret|Bearer/);
  });
});

test("an issuer that is down is said to be so, over both bindings", async () => {
  const jwks = { url: "http://127.0.0.1:9/keys" };
  const url = await serving({ admission: jwtTokens({ issuer: ISSUER, audience: "koine", jwks }), credentials: async () => ({}) });
  for (const pin of BINDINGS.slice(0, 2)) {
    const peer = await connected(url, pin, { bearer: await tokenOf("ann") });
    await expect(peer.getTask("x")).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("issuer") });
  }
});
