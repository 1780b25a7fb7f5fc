import { beforeEach, describe, expect, test } from "vitest";
import { ANONYMOUS, type Principal } from "../envelope/index.js";
import { bearerTokens, openAdmission } from "../security/admission.js";
import { wholeBody } from "../transport/body.js";
import type { Exchange, HttpHeaders, HttpResponse } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import { createArtifactLinks } from "./links.js";
import { createMemoryArtifacts } from "./memory-store.js";
import { artifactExchange } from "./serve.js";
import type { ArtifactInfo, ArtifactStore } from "./store.js";

const SECRET = new Uint8Array(32).fill(7);
const ETAG = '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"';
const DIGEST = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";
const ALICE: Principal = { id: "alice", scheme: "bearer", scopes: [], owner: "bearer:alice" };
const TOKENS = bearerTokens(
  new Map([
    ["alice", "alice-token-0123456789"],
    ["bob", "bob-token-0123456789"],
  ]),
);

let now: number;
let store: ArtifactStore;
let info: ArtifactInfo;
const links = createArtifactLinks({ secret: SECRET, baseUrl: () => "http://h:1/base", now: () => now, linkMs: 500 });

beforeEach(async () => {
  now = 1_000;
  store = createMemoryArtifacts({ now: () => now, newId: () => "art-1", limits: { keepMs: 10_000 } });
  info = await store.put(new TextEncoder().encode("abc"), { owner: ALICE.owner, mediaType: "text/html", name: 'a"\r\n é.html' });
});

const door = (admit: typeof TOKENS | (() => Principal) = openAdmission()): Exchange => artifactExchange({ store, links, admit });
async function get(
  url: string,
  headers: HttpHeaders = {},
  exchange = door(),
  method = "GET",
): Promise<HttpResponse & { text: string }> {
  const response = await exchange(makeRequest({ method, url, headers }));
  return { ...response, text: Buffer.from(await wholeBody(response.body, 1_000)).toString() };
}

describe("a link", () => {
  test("has this form, and does not name its owner", () => {
    expect(links.make(info)).toMatch(/^http:\/\/h:1\/base\/artifacts\/art-1\?expires=1500&owner=[\w-]{43}&sig=[\w-]{43}$/);
    expect(links.make(info)).not.toContain("alice");
  });

  test("without a lifetime of its own is valid as long as the artifact, and as the task that refers to it", async () => {
    const lasting = createArtifactLinks({ secret: SECRET, baseUrl: () => "http://h:1/base", now: () => now });
    const url = lasting.make(info);
    const isReferred = (owner: string, tasks: readonly string[]): boolean => owner === ALICE.owner && tasks.includes("task-1");
    const admit = openAdmission();
    const served = artifactExchange({ store, links: lasting, admit, isReferred });
    now = 10_999;
    expect((await get(url, {}, served)).status).toBe(200);
    now = 11_000;
    expect((await get(url, {}, served)).status).toBe(404);
    expect(await store.refer(info.id, "task-1")).toBe(true);
    expect((await get(url, {}, served)).status).toBe(200);
    expect(await store.sweep(isReferred)).toBe(0);
    now = 21_000;
    expect((await get(url, {}, artifactExchange({ store, links: lasting, admit, isReferred: () => false }))).status).toBe(404);
    expect(await store.sweep(() => false)).toBe(1);
  });

  test("expires", async () => {
    const url = links.make(info);
    now = 1_499;
    expect((await get(url)).status).toBe(200);
    now = 1_500;
    expect(await get(url)).toMatchObject({ status: 410, text: expect.stringContaining('"expired"') });
  });

  test("rejects every other link with the same answer", async () => {
    const url = links.make(info);
    const foreign = createArtifactLinks({ secret: new Uint8Array(32).fill(8), baseUrl: () => "http://h:1/base", now: () => now });
    const missing = await get("http://h:1/artifacts/nobody?expires=1500&owner=x&sig=y");
    expect(missing.status).toBe(404);
    for (const other of [
      url.replace("art-1", "art-2"),
      url.replace("expires=1500", "expires=9999"),
      url.replace(/owner=[\w-]{2}/, "owner=AA"),
      url.replace(/sig=[\w-]{2}/, "sig=AA"),
      url.replace(/&sig=.*/, ""),
      url.replace(/\?.*/, ""),
      `${url}&${"x".repeat(600)}`,
      foreign.make(info),
      links.make({ ...info, owner: "bearer:bob" }),
      links.make({ ...info, id: "art-2" }),
    ])
      expect(await get(other)).toMatchObject({ status: 404, text: missing.text });
  });

  test("requires a long secret", () => {
    expect(() => createArtifactLinks({ secret: new Uint8Array(31), baseUrl: () => "", now: () => 0 })).toThrow("32 bytes");
  });
});

describe("credentials beside a link", () => {
  const status = async (authorization?: string): Promise<number> =>
    (await get(links.make(info), { authorization }, door(TOKENS))).status;

  test("are not needed", async () => {
    expect(await status()).toBe(200);
    expect(
      (
        await get(
          links.make(info),
          {},
          door(() => ANONYMOUS),
        )
      ).status,
    ).toBe(200);
  });

  test("may be the owner's", async () => {
    expect(await status("Bearer alice-token-0123456789")).toBe(200);
  });

  test("of another caller are refused", async () => {
    expect(await status("Bearer bob-token-0123456789")).toBe(404);
  });

  test("that are invalid are refused", async () => {
    const response = await get(links.make(info), { authorization: "Bearer nobody-knows-this" }, door(TOKENS));
    const challenge = expect.stringContaining('Bearer realm="koine", error="invalid_token"'); // RFC 6750 §3.1
    expect(response).toMatchObject({ status: 401, headers: { "www-authenticate": challenge } });
  });
});

describe("an artifact", () => {
  test("is served complete, as a non-executable download", async () => {
    const { status, headers, text } = await get(links.make(info));
    expect({ status, text }).toEqual({ status: 200, text: "abc" });
    expect(headers).toEqual({
      "content-type": "text/html",
      "content-disposition": `attachment; filename="a___ _.html"; filename*=UTF-8''a%22%0D%0A%20%C3%A9.html`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, no-store",
      "accept-ranges": "bytes",
      "content-length": "3",
      "content-digest": DIGEST,
      "repr-digest": DIGEST,
      etag: ETAG,
    });
  });

  test("has no media type that could break a header", async () => {
    const odd = createMemoryArtifacts({ now: () => now, newId: () => "odd" });
    const put = await odd.put(new Uint8Array(1), { owner: "o", mediaType: "text/html\r\nx: y", name: "\ud800" });
    const response = await get(links.make(put), {}, artifactExchange({ store: odd, links, admit: openAdmission() }));
    expect(response.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename=\"_\"; filename*=UTF-8''_",
    });
  });

  test("supports ranges", async () => {
    const { status, headers, text } = await get(links.make(info), { range: "bytes=1-" });
    expect({ status, text }).toEqual({ status: 206, text: "bc" });
    expect(headers).toMatchObject({ "content-range": "bytes 1-2/3", "content-length": "2", "repr-digest": DIGEST });
    expect(headers["content-digest"]).toBeUndefined();
  });

  test("has no bytes past its end", async () => {
    const response = await get(links.make(info), { range: "bytes=3-" });
    expect(response).toMatchObject({ status: 416, headers: { "content-range": "bytes */3" }, text: "" });
  });

  test("honours If-Range and If-None-Match", async () => {
    const url = links.make(info);
    expect(await get(url, { range: "bytes=0-0", "if-range": ETAG })).toMatchObject({ status: 206, text: "a" });
    expect(await get(url, { range: "bytes=0-0", "if-range": '"other"' })).toMatchObject({ status: 200, text: "abc" });
    expect(await get(url, { range: "bytes=0-0", "if-range": `W/${ETAG}` })).toMatchObject({ status: 200, text: "abc" });
    expect(await get(url, { "if-none-match": `"x", ${ETAG}` })).toMatchObject({ status: 304, text: "" });
  });

  test("answers HEAD without its bytes", async () => {
    const response = await get(links.make(info), { range: "bytes=0-0" }, door(), "HEAD");
    expect(response).toMatchObject({ status: 200, headers: { "content-length": "3", etag: ETAG }, body: undefined });
  });

  test("is only read", async () => {
    for (const method of ["POST", "PUT", "DELETE"])
      expect(await get(links.make(info), {}, door(), method)).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });
});
