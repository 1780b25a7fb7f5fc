import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { makeAuthority } from "../../../test/certificates.js";
import { PYTHON_KEYS, W3C_DID_KEYS } from "../../../test/helpers/key-vectors.js";
import { AgentError, CancelSource } from "../../envelope/index.js";
import { createResolver, type ResolverOptions } from "./did-resolver.js";
import { didWebOf, didWebUrl } from "./did-web.js";

const cancel = new CancelSource();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Answer = (path: string, response: import("node:http").ServerResponse) => void;

/** A real server that records the paths it is asked for. */
async function site(answer: Answer): Promise<{ readonly host: string; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request.url ?? "", response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { host: `localhost%3A${(server.address() as AddressInfo).port}`, paths };
}

const documentOf = (did: string, more: object = {}): string =>
  JSON.stringify({
    id: did,
    verificationMethod: [
      { id: "#key-1", type: "Multikey", controller: did, publicKeyMultibase: PYTHON_KEYS.Ed25519.multikey, ...more },
    ],
    authentication: ["#key-1"],
  });

/** Serves the document of the DID that belongs to each path. */
const serveDocuments =
  (host: () => string, more: object = {}): Answer =>
  (path, response) => {
    const segments = path
      .replace(/^\/\.well-known\/did\.json$|\/did\.json$/, "")
      .split("/")
      .slice(1);
    response.end(documentOf(["did:web", host(), ...segments].join(":"), more));
  };

const local = (options: ResolverOptions = {}) => createResolver({ httpForLoopback: true, from: "loopback", ...options });

describe("did:web", () => {
  // https://w3c-ccg.github.io/did-method-web/#read-resolve
  test.each([
    ["did:web:w3c-ccg.github.io", "https://w3c-ccg.github.io/.well-known/did.json"],
    ["did:web:w3c-ccg.github.io:user:alice", "https://w3c-ccg.github.io/user/alice/did.json"],
    ["did:web:example.com%3A3000:user:alice", "https://example.com:3000/user/alice/did.json"],
  ])("%s is at %s", (did, url) => {
    expect(didWebUrl(did)).toBe(url);
    expect(didWebOf(url.replace(/\/(\.well-known\/)?did\.json$/, ""))).toBe(did);
  });

  test.each([
    "did:web:",
    "did:web:Example.com",
    "did:web:example.com%3a3000",
    "did:web:example.com%3A0",
    "did:web:example.com%3A70000",
    "did:web:example.com::x",
    "did:web:example.com:..",
    "did:web:example.com:.",
    "did:web:example.com:%2E%2e",
    "did:web:example.com:a%2Fb",
    "did:web:example.com:a%5Cb",
    "did:web:user%40example.com",
    "did:web:example.com%2Fx",
    "did:web:127.0.0.1",
    "did:web:10.0.0.1%3A80",
    "did:web:2130706433",
  ])("refuses %s", (did) => {
    expect(didWebUrl(did)).toBeUndefined();
  });

  test("is read by https with a certificate that is valid for the name", async () => {
    const { ca, issue } = await makeAuthority();
    const pair = await issue({ hosts: ["localhost"] });
    const server = createTlsServer({ cert: pair.cert, key: pair.key }, (_, response) => {
      response.end(documentOf(did));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const did = `did:web:localhost%3A${(server.address() as AddressInfo).port}`;
    const trusting = createResolver({ from: "loopback", tls: { ca } });
    expect((await trusting.resolve(did, cancel)).document.keys.map(({ id }) => id)).toEqual([`${did}#key-1`]);
    await expect(createResolver({ from: "loopback" }).resolve(did, cancel)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("is read from both kinds of paths", async () => {
    const { host, paths } = await site(serveDocuments(() => host));
    const resolver = local();
    for (const did of [`did:web:${host}`, `did:web:${host}:user:alice`]) {
      const { document, from } = await resolver.resolve(did, cancel);
      expect(document.id).toBe(did);
      expect(from).toBe("loopback");
    }
    expect(paths).toEqual(["/.well-known/did.json", "/user/alice/did.json"]);
  });
});

describe("the resolver", () => {
  test.each(W3C_DID_KEYS)("resolves $did", async ({ did, kind }) => {
    const { document } = await createResolver().resolve(did, cancel);
    expect(document.keys).toMatchObject([{ id: `${did}#${did.slice(8)}`, kind }]);
  });

  test("refuses what is no DID, an unknown method and an invalid did:key", async () => {
    const resolver = createResolver();
    await expect(resolver.resolve("agent.example", cancel)).rejects.toMatchObject({ code: "invalid_message" });
    await expect(resolver.resolve("did:none:x", cancel)).rejects.toMatchObject({ code: "unsupported" });
    await expect(resolver.resolve("did:key:z6Mk", cancel)).rejects.toMatchObject({ code: "bad_peer" });
  });

  test("keeps documents for their time, and until they are forgotten", async () => {
    const clock = { now: 1_000 };
    const { host, paths } = await site(serveDocuments(() => host));
    const resolver = local({ now: () => clock.now, limits: { documentMs: 500 } });
    const did = `did:web:${host}`;
    expect((await resolver.resolve(did, cancel)).observedAt).toBe(1_000);
    clock.now = 1_499;
    expect((await resolver.resolve(did, cancel)).observedAt).toBe(1_000);
    expect(paths).toHaveLength(1);
    clock.now = 1_500;
    expect((await resolver.resolve(did, cancel)).observedAt).toBe(1_500);
    resolver.forget(did);
    await resolver.resolve(did, cancel);
    expect(paths).toHaveLength(3);
  });

  test("reads a document again when one of its keys ends", async () => {
    const clock = { now: Date.parse("2026-11-17T08:00:00Z") };
    const { host, paths } = await site(serveDocuments(() => host, { expires: "2026-11-17T08:00:01Z" }));
    const resolver = local({ now: () => clock.now });
    expect((await resolver.resolve(`did:web:${host}`, cancel)).document.keys).toHaveLength(1);
    clock.now += 1_000;
    expect((await resolver.resolve(`did:web:${host}`, cancel)).document.keys).toHaveLength(0);
    expect(paths).toHaveLength(2);
  });

  test("remembers for a while that a DID does not exist", async () => {
    const clock = { now: 0 };
    const { host, paths } = await site((_, response) => response.writeHead(404).end());
    const resolver = local({ now: () => clock.now, limits: { failureMs: 100 } });
    for (const now of [0, 99, 100]) {
      clock.now = now;
      await expect(resolver.resolve(`did:web:${host}`, cancel)).rejects.toMatchObject({ code: "not_found" });
    }
    expect(paths).toHaveLength(2);
  });

  test("unknown DIDs do not displace known documents, and the caches are bounded", async () => {
    const { host, paths } = await site((path, response) => {
      if (path.startsWith("/none")) response.writeHead(404).end();
      else serveDocuments(() => host)(path, response);
    });
    const resolver = local({ limits: { documents: 2, failures: 2 } });
    const ask = (name: string) => resolver.resolve(`did:web:${host}:${name}`, cancel).catch((error: AgentError) => error.code);
    await ask("a");
    for (const name of ["none1", "none2", "none3"]) expect(await ask(name)).toBe("not_found");
    await ask("a");
    expect(paths).toHaveLength(4);
    await ask("none1");
    await ask("b");
    await ask("c");
    await ask("a");
    expect(paths.slice(4)).toEqual(["/none1/did.json", "/b/did.json", "/c/did.json", "/a/did.json"]);
  });

  test("asks once for all who wait for the same DID", async () => {
    const { host, paths } = await site(serveDocuments(() => host));
    const resolver = local();
    const results = await Promise.all(Array.from({ length: 20 }, () => resolver.resolve(`did:web:${host}`, cancel)));
    expect(new Set(results).size).toBe(1);
    expect(paths).toHaveLength(1);
  });

  test("what was forgotten while it was read is not kept", async () => {
    const waiting: (() => void)[] = [];
    const { host, paths } = await site((path, response) => {
      const answer = () => serveDocuments(() => host)(path, response);
      if (paths.length === 1) waiting.push(answer);
      else answer();
    });
    const resolver = local();
    const first = resolver.resolve(`did:web:${host}`, cancel);
    await expect.poll(() => waiting.length).toBe(1);
    resolver.forget(`did:web:${host}`);
    waiting[0]?.();
    await first;
    await resolver.resolve(`did:web:${host}`, cancel);
    expect(paths).toHaveLength(2);
  });

  test("a protocol's method has its own lifetime", async () => {
    let asked = 0;
    const method = {
      method: "one",
      cacheMs: 5,
      async resolve(did: string) {
        asked++;
        return { id: did, keys: [], services: [], deactivated: false, successor: undefined, bytes: new Uint8Array(0) };
      },
    };
    const clock = { now: 0 };
    const resolver = createResolver({ methods: [method], now: () => clock.now });
    for (const now of [0, 4, 5]) {
      clock.now = now;
      await resolver.resolve("did:one:x", cancel);
    }
    expect(asked).toBe(2);
  });
});

describe("hostile sources", () => {
  test("a source that hangs ends with the time limit, and does not block other DIDs", async () => {
    const { host } = await site((path, response) => {
      if (path.startsWith("/ok")) serveDocuments(() => host)(path, response);
      else if (path.startsWith("/head")) response.writeHead(200).write("{");
    });
    const resolver = local({ limits: { resolveMs: 300 } });
    const hanging = ["silent", "head"].map((name) => resolver.resolve(`did:web:${host}:${name}`, cancel));
    const settled = Promise.allSettled(hanging);
    await resolver.resolve(`did:web:${host}:ok`, cancel);
    for (const result of await settled)
      expect(result).toMatchObject({
        status: "rejected",
        reason: { code: "unavailable", message: expect.stringContaining("300 ms") },
      });
  });

  test("who cancels does not wait", async () => {
    const { host } = await site(() => undefined);
    const leaving = new CancelSource();
    const waiting = local({ limits: { resolveMs: 5_000 } }).resolve(`did:web:${host}`, leaving);
    leaving.cancel(new AgentError("cancelled", "left"));
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
  });

  test("a redirect is not followed, inside or elsewhere", async () => {
    const inside = await site(serveDocuments(() => inside.host));
    const location = `http://127.0.0.1:${inside.host.slice("localhost%3A".length)}/.well-known/did.json`;
    const { host } = await site((_, response) => response.writeHead(302, { location }).end());
    await expect(local().resolve(`did:web:${host}`, cancel)).rejects.toMatchObject({
      code: "bad_peer",
      message: expect.stringContaining("redirects"),
    });
    expect(inside.paths).toEqual([]);
  });

  test.each([
    ["loopback", "127.0.0.1"],
    ["private", "10.1.2.3"],
    ["reserved", "169.254.169.254"],
  ])("a name with a %s address is refused before anything is sent", async (kind, address) => {
    const resolver = createResolver({ resolve: async () => ["93.184.215.14", address] });
    await expect(resolver.resolve("did:web:agent.example", cancel)).rejects.toMatchObject({
      code: "bad_peer",
      message: expect.stringContaining(`${kind} address`),
    });
  });

  test("http needs a loopback name and the option", async () => {
    const { host, paths } = await site(serveDocuments(() => host));
    await expect(createResolver({ from: "loopback" }).resolve(`did:web:${host}`, cancel)).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(createResolver({ httpForLoopback: true }).resolve(`did:web:${host}`, cancel)).rejects.toMatchObject({
      code: "bad_peer",
    });
    expect(paths).toEqual([]);
    expect(didWebUrl("did:web:agent.example", { httpForLoopback: true })).toMatch(/^https:/);
  });

  test("a huge document is refused", async () => {
    const { host } = await site((_, response) => {
      for (let piece = 0; piece < 100; piece++) response.write("x".repeat(1_024));
      response.end();
    });
    await expect(local().resolve(`did:web:${host}`, cancel)).rejects.toMatchObject({ code: "bad_peer" });
  });

  test("one caller cannot take all resolutions, nor all callers together more than the limit", async () => {
    const { host, paths } = await site(() => undefined);
    const resolver = local({ limits: { atOnce: 3, atOncePerCaller: 2, resolveMs: 1_000 } });
    const codes: string[] = [];
    const ask = (caller: string, name: string) =>
      resolver
        .forCaller(caller)
        .resolve(`did:web:${host}:${name}`, cancel)
        .catch((error: AgentError) => codes.push(error.message.includes("too many") ? `${name} refused` : `${name} ended`));
    const all = [ask("10.0.0.1", "a"), ask("10.0.0.1", "b"), ask("10.0.0.1", "c"), ask("10.0.0.2", "d"), ask("10.0.0.3", "e")];
    await expect.poll(() => codes).toEqual(["c refused", "e refused"]);
    await Promise.all(all);
    expect(codes.slice(2).sort()).toEqual(["a ended", "b ended", "d ended"]);
    expect(paths).toHaveLength(3);
    await ask("10.0.0.1", "f");
    expect(codes.at(-1)).toBe("f ended");
  });
});
