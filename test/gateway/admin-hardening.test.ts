import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ConfigError, configFrom, openGateway, problemText } from "../../apps/gateway/index.js";
import { agent, type ServeOptions, type Server, serve } from "../../src/index.js";
import type { AuditEntry } from "../../src/public/auth.js";
import { makeAuthority } from "../certificates.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const TOKEN = "the-token-of-the-operator";
const echo = () => agent({ name: "echo", description: "d", handle: ({ text }) => text });

async function served(options: ServeOptions): Promise<Server> {
  const server = await serve(echo(), { limits: { drainMs: 1 }, ...options });
  closing.push(() => server.close());
  return server;
}

async function statusOf(server: Server, headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(`${server.admin?.url}/health`, { headers })).status;
}

function collected() {
  const entries: AuditEntry[] = [];
  const audit = { record: (entry: AuditEntry) => void entries.push(entry), close: async () => undefined };
  return { audit, of: () => entries.map(({ event, who, what, code }) => [event, who, what, code]), entries };
}

describe("the audit log", () => {
  test.each(["own", "callers"] as const)("has who was admitted and refused, on the port: %s", async (listener) => {
    const { audit, of, entries } = collected();
    const server = await served({ admin: { token: TOKEN, listener, routes: [secretRoute] }, audit });
    const ask = async (headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(`${server.admin?.url}/secret`, { headers })).status;
    expect(await ask()).toBe(401);
    expect(await ask({ "x-koine-token": `${TOKEN}x` })).toBe(401);
    expect(await ask({ "x-koine-token": TOKEN })).toBe(200);
    await expect.poll(of).toEqual([
      ["refused", "unknown", "GET /secret", "unauthenticated"],
      ["refused", "unknown", "GET /secret", "unauthenticated"],
      ["authenticated", "operator", "GET /secret", undefined],
    ]);
    expect(JSON.stringify(entries)).not.toContain(TOKEN);
  });

  test("has requests for a foreign host name", async () => {
    const { audit, of } = collected();
    const server = await served({ admin: { token: TOKEN }, audit });
    expect(await statusOf(server, { origin: "https://evil.example", "x-koine-token": TOKEN })).toBe(403);
    expect(of()).toEqual([["refused", "unknown", "GET /health", "forbidden"]]);
  });
});

const secretRoute = {
  route: { method: "GET", path: "/secret" },
  access: "operator",
  exchange: () => ({ status: 200, headers: {}, body: "secret" }),
} as const;

test("wrong tokens are limited by network, and lock nobody out who has the right one", async () => {
  const { audit, of } = collected();
  let nowMs = 1_000_000;
  const ids = { now: () => nowMs, newId: () => crypto.randomUUID() };
  const server = await served({ admin: { token: TOKEN }, limits: { drainMs: 1, adminFailures: 3 }, ids, audit });
  for (let index = 0; index < 10; index++) expect(await statusOf(server)).toBe(401); // no guesses
  for (let index = 0; index < 3; index++) expect(await statusOf(server, { "x-koine-token": `wrong-token-${index}` })).toBe(401);
  const refused = await fetch(`${server.admin?.url}/health`, { headers: { "x-koine-token": "wrong-token-4" } });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(await statusOf(server, { "x-koine-token": TOKEN })).toBe(200);
  expect(await statusOf(server, { authorization: "Bearer wrong-again" })).toBe(429);
  expect(await statusOf(server)).toBe(401);
  expect(of().filter(([, , , code]) => code === "overloaded")).toHaveLength(2);
  nowMs += 60_000;
  expect(await statusOf(server, { "x-koine-token": "wrong-token-5" })).toBe(401);
});

describe("beyond this machine", () => {
  const document = (admin: object) => ({
    listen: { port: 0 },
    agents: [{ name: "echo", upstream: "http://127.0.0.1:1" }],
    limits: { drainMs: 1 },
    admin,
  });
  const problemsOf = (admin: object): readonly string[] => {
    try {
      configFrom(document(admin), { folder: "/nowhere", env: {} });
      return [];
    } catch (thrown) {
      return thrown instanceof ConfigError ? thrown.problems.map(problemText) : [`${thrown}`];
    }
  };

  test("a listener without TLS is refused, unless that is allowed by name", async () => {
    await expect(serve(echo(), { admin: { host: "0.0.0.0" } })).rejects.toThrow("the admin listener on 0.0.0.0 has no TLS");
    expect(problemsOf({ host: "0.0.0.0" })).toEqual([expect.stringContaining("admin.host requires admin.tls")]);
    expect(problemsOf({ host: "0.0.0.0", clearText: true })).toEqual([]);
    expect(problemsOf({ host: "127.0.0.1" })).toEqual([]);
    expect(problemsOf({ listener: "callers", clearText: true })).toEqual([expect.stringContaining("admin.clearText belongs")]);
    const server = await served({ admin: { host: "0.0.0.0", clearText: true, token: TOKEN } });
    expect(await statusOf(server, { "x-koine-token": TOKEN })).toBe(200);
  });

  test("koine.yaml names certificate and key, which a reload replaces", async () => {
    const authority = await makeAuthority("operators");
    const folder = mkdtempSync(join(tmpdir(), "koine-admin-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const renew = async (): Promise<void> => {
      const { cert, key } = await authority.issue({ hosts: ["127.0.0.1"] });
      writeFileSync(join(folder, "cert.pem"), cert);
      writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
    };
    await renew();
    const config = () =>
      configFrom(document({ host: "0.0.0.0", token: { env: "ADMIN" }, tls: { cert: "cert.pem", key: "key.pem" } }), {
        folder,
        env: { ADMIN: TOKEN },
      });
    const gateway = await openGateway(config());
    closing.push(() => gateway.close());
    expect(gateway.admin).toMatchObject({ url: expect.stringMatching(/^https:/), generated: false });
    expect(gateway.warnings.filter((line) => line.includes("admin listener"))).toEqual([]);
    const first = await secureGet(`${gateway.admin?.url}/health`, authority.ca);
    expect(first.status).toBe(503); // its upstream is down
    await renew();
    await gateway.reload(config());
    const second = await secureGet(`${gateway.admin?.url}/health`, authority.ca);
    expect(second.status).toBe(503);
    expect(second.serial).not.toBe(first.serial);
  });
});

/** The status, and the serial number of the certificate. */
function secureGet(url: string, ca: string): Promise<{ readonly status: number; readonly serial: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca, agent: false, headers: { "x-koine-token": TOKEN } }, (response) => {
      const { serialNumber: serial } = (response.socket as import("node:tls").TLSSocket).getPeerCertificate();
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, serial }));
    });
    asked.on("error", reject).end();
  });
}
