import { request as askPlainly, type IncomingHttpHeaders } from "node:http";
import { request as askSecurely, createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { agent, type Credentials, connect, DiscoveryCache, type HostOptions, mount, serve } from "../src/index.js";
import {
  type Admission,
  type AuditEntry,
  anyOf,
  apiKeys,
  bearerTokens,
  clientCertificates,
  jwtTokens,
} from "../src/public/auth.js";
import { makeAuthority } from "./certificates.js";

/** Every authentication method over every binding, by our own client from the card alone; callers see only their own tasks. */

const BINDINGS = [
  "a2a@1.0/JSONRPC",
  "a2a@1.0/HTTP+JSON",
  "a2a@0.3/JSONRPC",
  "a2a@0.3/HTTP+JSON",
  "acp@0.2/REST",
  "agora@0.2/HTTP",
] as const;
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
let otherAuthority: Awaited<ReturnType<typeof makeAuthority>>;
beforeAll(async () => {
  [authority, otherAuthority] = [await makeAuthority(), await makeAuthority("Another Authority")];
});

interface Scheme {
  readonly admission: Admission;
  readonly secure?: boolean;
  /** The challenge for a caller without credentials; RFC 9110 has none for keys and certificates. */
  readonly challenge?: unknown;
  credentials(name: string): Promise<Credentials>;
}
const inPlace = (location: "header" | "query" | "cookie"): Scheme => ({
  admission: apiKeys(secrets, { location, name: "X-Key" }),
  credentials: async (name) => ({ apiKey: secretOf(name) }),
});
const withCertificate = async (name: string): Promise<Credentials> => {
  const signer = name === "mallory" ? otherAuthority : authority;
  return { tls: { ca: authority.ca, ...(await signer.issue({ hosts: [`${name}.example`], client: true })) } };
};
const BEARER: unknown = expect.stringMatching(/^Bearer/);
const SCHEMES: { readonly [name: string]: Scheme } = {
  "a bearer token": {
    admission: bearerTokens(secrets),
    challenge: BEARER,
    credentials: async (name) => ({ bearer: secretOf(name) }),
  },
  "an API key in a header": inPlace("header"),
  "an API key in the query": inPlace("query"),
  "an API key in a cookie": inPlace("cookie"),
  "a JWT": { admission: jwt, challenge: BEARER, credentials: async (name) => ({ bearer: await tokenOf(name) }) },
  "a client certificate": { admission: clientCertificates(), secure: true, credentials: withCertificate },
  "the second of several": {
    admission: anyOf(clientCertificates(), apiKeys(secrets, { location: "header", name: "X-Key" }), jwt),
    challenge: BEARER,
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
  const peer = await connect(url, { pin, credentials, discoveryCache: new DiscoveryCache() });
  cleanups.push(() => peer.close());
  return peer;
}

for (const [words, scheme] of Object.entries(SCHEMES)) {
  describe(words, () => {
    for (const pin of BINDINGS) {
      test(`admits by ${pin}, and shows no caller another caller's task`, async () => {
        const url = await serving(scheme);
        const [ann, bob, mallory] = await Promise.all(
          ["ann", "bob", "mallory"].map(async (name) => connected(url, pin, await scheme.credentials(name))),
        );
        // Not awaited: every protocol then returns an id.
        const answer = await ann?.start("hello");
        const id = answer?.kind === "task" ? answer.task.id : "";
        await expect.poll(async () => (await ann?.getTask(id))?.status.state).toBe("completed");
        await expect(bob?.getTask(id)).rejects.toMatchObject({ code: "task_not_found" });
        await expect(bob?.cancelTask(id)).rejects.toMatchObject({ code: "task_not_found" });
        await expect(mallory?.getTask(id)).rejects.toMatchObject({
          code: "unauthenticated",
          message: expect.not.stringContaining("card"),
        });
      });
    }

    test("refuses anonymous callers, in the form of every protocol, and serves the discovery documents to all", async () => {
      const url = await serving(scheme);
      for (const [sent, shape] of REFUSALS) {
        const { status, headers, body } = await answerTo(url, sent);
        expect([sent.path, status, JSON.parse(body)]).toEqual([sent.path, 401, shape]);
        expect([sent.path, headers["www-authenticate"]]).toEqual([sent.path, scheme.challenge]);
      }
      for (const path of ["/.well-known/agent-card.json", "/agents", "/ping", "/acp/status", "/.well-known/agora", "/.wellknown"])
        expect([path, (await answerTo(url, { method: "GET", path })).status]).toEqual([path, 200]);
    });
  });
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const RUN = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
/** Every refusal names the credentials that are needed. */
const NEEDED = expect.stringMatching(/\b(token|certificate|key)\b/i);
const IN_JSON_RPC = { jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32000, message: NEEDED }) };
const IN_ACP = { code: "server_error", message: NEEDED, data: expect.objectContaining({ code: "unauthenticated" }) };
const IN_PLAIN_ACP = { error: expect.objectContaining({ code: expect.stringMatching(/^E_/), reason: "unauthenticated" }) };
const IN_AGORA = { status: "error", message: NEEDED, body: NEEDED };

/** Requests of an anonymous caller, and how each protocol refuses them. */
const REFUSALS: readonly (readonly [Asked, unknown])[] = [
  [{ method: "POST", path: "/a2a", body: { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } } }, IN_JSON_RPC],
  [{ method: "GET", path: "/a2a/tasks/x" }, { error: expect.objectContaining({ code: 401, status: "UNAUTHENTICATED" }) }],
  [{ method: "POST", path: "/runs", body: { agent_name: "worker", input: [] } }, IN_ACP],
  [{ method: "GET", path: `/runs/${RUN}` }, IN_ACP],
  [{ method: "POST", path: `/runs/${RUN}`, body: {} }, IN_ACP],
  [{ method: "POST", path: `/runs/${RUN}/cancel` }, IN_ACP],
  [{ method: "GET", path: `/runs/${RUN}/events` }, IN_ACP],
  [{ method: "GET", path: `/sessions/${RUN}` }, IN_ACP],
  [{ method: "GET", path: `/session/${RUN}` }, IN_ACP],
  [{ method: "GET", path: `/resources/${RUN}.0` }, IN_ACP],
  [{ method: "POST", path: "/acp/message", body: { payload: { text: "hello" } } }, IN_PLAIN_ACP],
  [{ method: "GET", path: `/acp/status?run_id=${RUN}` }, IN_PLAIN_ACP],
  // The body would tell which protocol it is, and is not read.
  [{ method: "POST", path: "/", body: { protocolHash: null, body: "hello" } }, IN_JSON_RPC],
  [{ method: "POST", path: "/agora", body: { protocolHash: null, body: "hello" } }, IN_AGORA],
  [{ method: "POST", path: `/conversations/${RUN}`, body: { body: "hello" } }, IN_AGORA],
  [{ method: "DELETE", path: `/conversations/${RUN}` }, IN_AGORA],
];

/** Without a certificate, a key or a token. */
function answerTo(
  url: string,
  { method, path, body }: Asked,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const request = url.startsWith("https:") ? askSecurely : askPlainly;
    const sent = request(`${url}${path}`, { method, headers, ca: authority.ca }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces).toString() }),
      );
    });
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe("a tenant", () => {
  const admission = jwtTokens({ issuer: ISSUER, audience: "koine", jwks: { sharedSecret: SHARED }, tenantClaim: "org" });

  test.each(BINDINGS)("is part of the owner over %s", async (pin) => {
    const url = await serving({ admission, credentials: async () => ({}) });
    const [acme, other] = await Promise.all(
      ["acme", "other"].map(async (org) => connected(url, pin, { bearer: await tokenOf("ann", { org }) })),
    );
    const begun = await acme?.start("hello");
    const id = begun?.kind === "task" ? begun.task.id : "";
    expect((await acme?.getTask(id))?.id).toBe(id);
    await expect(other?.getTask(id)).rejects.toMatchObject({ code: "task_not_found" });
  });

  test("cannot be changed by the caller, and an attempt is in the audit log", async () => {
    const entries: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void entries.push(entry), close: () => Promise.resolve() };
    const url = await serving({ admission, credentials: async () => ({}) }, { audit });
    const acme = await connected(url, BINDINGS[0], { bearer: await tokenOf("ann", { org: "acme" }) });
    const answer = await acme.send("hello");
    const id = answer.kind === "task" ? answer.task.id : "";
    expect(id).not.toBe("");

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
        face: "E_HTTP",
        reason: "refused after admission",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        remote: "127.0.0.1",
      },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/s3cret|Bearer/);
  });
});

test("an unreachable issuer is reported over every binding", async () => {
  const jwks = { url: "http://127.0.0.1:9/keys" };
  const url = await serving({ admission: jwtTokens({ issuer: ISSUER, audience: "koine", jwks }), credentials: async () => ({}) });
  for (const pin of BINDINGS) {
    const peer = await connected(url, pin, { bearer: await tokenOf("ann") });
    await expect(peer.getTask(RUN)).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("issuer") });
  }
});
