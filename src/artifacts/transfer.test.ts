import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, CancelSource, dataPart, INLINE_CONTENT_BYTES, type Part, SELF, textPart } from "../envelope/index.js";
import { openAdmission } from "../security/admission.js";
import { createGuard } from "../security/outbound-guard.js";
import { pinnedLookup } from "../security/resolve-by-dns.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { type Listening, listen, poolLink } from "../transport/node/index.js";
import { openDiskArtifacts } from "./disk-store.js";
import { type FetchOptions, fetchPart } from "./incoming.js";
import { type ArtifactLinks, createArtifactLinks } from "./links.js";
import { createMemoryArtifacts } from "./memory-store.js";
import { moveLargeParts } from "./outgoing.js";
import { artifactExchange } from "./serve.js";
import type { ArtifactStore } from "./store.js";

const resolve = async (): Promise<readonly string[]> => ["127.0.0.1"];
const guard = createGuard({ from: "loopback", resolve });
const overHttp: FetchOptions = { guard, linkTo: (target) => poolLink({ lookup: pinnedLookup(target) }) };

describe("over HTTP", () => {
  let folder: string;
  let store: ArtifactStore;
  let links: ArtifactLinks;
  let server: Listening;
  const requests: string[] = [];
  const chunkSizes: number[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-transfer-"));
    store = await openDiskArtifacts(folder, { now: Date.now, newId: randomUUID });
    links = createArtifactLinks({ secret: randomBytes(32), baseUrl: () => `http://files.example:${server.port}`, now: Date.now });
    const exchange = artifactExchange({ store: measured(store), links, admit: openAdmission() });
    server = await listen(
      (request) => {
        requests.push(request.headers["range"] ?? "whole");
        return exchange(request);
      },
      { port: 0 },
    );
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  function measured(inner: ArtifactStore): ArtifactStore {
    async function* read(...[info, range]: Parameters<ArtifactStore["read"]>): AsyncIterable<Uint8Array> {
      for await (const chunk of inner.read(info, range)) {
        chunkSizes.push(chunk.length);
        yield chunk;
      }
    }
    return new Proxy(inner, {
      get(target, name) {
        const found = name === "read" ? read : Reflect.get(target, name, target);
        return typeof found === "function" ? found.bind(target) : found;
      },
    });
  }

  test("a part of 50 MB crosses, in pieces a message could have, never whole on the serving side", async () => {
    const bytes = randomBytes(50_000_000);
    const part: Part = { kind: "raw", bytes, mediaType: "video/mp4", name: "film.mp4", metadata: { scene: 1 } };
    const { content, refs } = await moveLargeParts([textPart("look"), part], {
      inlineBytes: INLINE_CONTENT_BYTES,
      owner: SELF.owner,
      artifacts: { store, links },
    });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(content).toEqual([
      textPart("look"),
      {
        kind: "url",
        url: refs[0],
        mediaType: "video/mp4",
        name: "film.mp4",
        metadata: { scene: 1, "urn:koine:artifact:1": { kind: "raw", bytes: 50_000_000, sha256 } },
      },
    ]);
    const got = await fetchPart(content[1] as Part, overHttp); // two parts, as asserted above
    expect(got).toMatchObject({ kind: "raw", mediaType: "video/mp4", name: "film.mp4", metadata: { scene: 1 } });
    expect(Buffer.compare((got as typeof part & { kind: "raw" }).bytes, bytes)).toBe(0); // raw, as asserted above
    expect(requests).toEqual([
      "bytes=0-8388607",
      "bytes=8388608-16777215",
      "bytes=16777216-25165823",
      "bytes=25165824-33554431",
      "bytes=33554432-41943039",
      "bytes=41943040-50331647",
    ]);
    expect(Math.max(...chunkSizes)).toBeLessThanOrEqual(256 * 1024);
  });
});

describe("moveLargeParts()", () => {
  const memory = () => {
    let ids = 0;
    const store = createMemoryArtifacts({ now: () => 0, newId: () => `a${++ids}`, limits: { artifactBytes: 5_000 } });
    const links = createArtifactLinks({ secret: new Uint8Array(32), baseUrl: () => "http://127.0.0.1:1", now: () => 0 });
    const linkTo: FetchOptions["linkTo"] = () => ({
      exchange: artifactExchange({ store, links, admit: openAdmission() }),
      close: async () => undefined,
    });
    return { store, links, fetching: { guard, linkTo } };
  };

  test("leaves small content as it is", async () => {
    const content = [textPart("x".repeat(999))];
    const moved = await moveLargeParts(content, { inlineBytes: 1_000, owner: "o" });
    expect(moved.content).toBe(content);
    expect(moved.refs).toEqual([]);
  });

  test("externalizes text and data too, and restores each", async () => {
    const { store, links, fetching } = memory();
    const parts: readonly Part[] = [
      { kind: "text", text: `\ufeffé${"x".repeat(2_000)}`, mediaType: "text/markdown", name: "t", metadata: undefined },
      {
        kind: "data",
        data: { rows: "y".repeat(1_500), n: [1, null] },
        mediaType: undefined,
        name: undefined,
        metadata: { k: 1 },
      },
    ];
    const { content } = await moveLargeParts(parts, { inlineBytes: 1_100, owner: "o", artifacts: { store, links } });
    expect(content.map(({ kind }) => kind)).toEqual(["url", "url"]);
    expect(await Promise.all(content.map((part) => fetchPart(part, fetching)))).toEqual(parts);
  });

  test("moves the largest first, and only until the rest fits", async () => {
    const { store, links } = memory();
    const parts = [textPart("a".repeat(800)), textPart("b".repeat(3_000)), textPart("c".repeat(300))];
    const { content } = await moveLargeParts(parts, { inlineBytes: 2_000, owner: "o", artifacts: { store, links } });
    expect(content.map(({ kind }) => kind)).toEqual(["text", "url", "text"]);
  });

  test("leaves ciphertext in the message, however large", async () => {
    const { store, links } = memory();
    const sealed: Part = { kind: "raw", bytes: new Uint8Array(4_000), mediaType: "application/vnd.koine.sealed" };
    const parts = [sealed, textPart("a".repeat(1_500))];
    const { content } = await moveLargeParts(parts, { inlineBytes: 2_000, owner: "o", artifacts: { store, links } });
    expect([content[0] === sealed, content[1]?.kind]).toEqual([true, "url"]);
    await expect(moveLargeParts([sealed], { inlineBytes: 2_000, owner: "o" })).resolves.toEqual({
      content: [sealed],
      refs: [],
      ids: [],
    });
  });

  test("refuses when there is nowhere to put it", async () => {
    const refused = moveLargeParts([textPart("x".repeat(1_000))], { inlineBytes: 1_000, owner: "o" });
    await expect(refused).rejects.toMatchObject({ code: "too_large", facts: { field: "content" } });
  });

  test("keeps nothing of content that did not fit as a whole", async () => {
    const { store, links } = memory();
    const parts = [textPart("x".repeat(4_000)), textPart("y".repeat(6_000))];
    const refused = moveLargeParts(parts, { inlineBytes: 1_000, owner: "o", artifacts: { store, links } });
    await expect(refused).rejects.toMatchObject({ code: "too_large" });
    expect(await store.find("a1")).toBeUndefined();
  });
});

describe("fetchPart()", () => {
  const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const reference = (kind: string, bytes: number, sha256 = ABC): Part => ({
    kind: "url",
    url: "http://127.0.0.1:1/x",
    metadata: { "urn:koine:artifact:1": { kind, bytes, sha256 } },
  });
  const ok = (body: string, headers: HttpResponse["headers"] = {}): HttpResponse => ({ status: 200, headers, body });
  const piece = (range: string, body: string, etag?: string): HttpResponse => ({
    status: 206,
    headers: { "content-range": range, etag },
    body,
  });
  const asked: HttpRequest[] = [];
  function answering(...answers: readonly (HttpResponse | AgentError)[]): FetchOptions {
    asked.length = 0;
    const exchange: Exchange = async (request) => {
      const answer = answers[asked.push(request) - 1];
      if (answer === undefined || answer instanceof AgentError) throw answer ?? new Error("asked once more");
      return answer;
    };
    return { guard, linkTo: () => ({ exchange, close: async () => undefined }), limits: { pieceBytes: 2, artifactBytes: 10 } };
  }
  const code = (part: Part, ...answers: readonly (HttpResponse | AgentError)[]): Promise<string> =>
    fetchPart(part, answering(...answers)).then(
      ({ kind }) => kind,
      (thrown: unknown) => (thrown instanceof AgentError ? thrown.code : String(thrown)),
    );

  test("leaves other parts alone", async () => {
    const part = dataPart(1);
    expect(await fetchPart(part, answering())).toBe(part);
  });

  test("accepts a whole answer if ranges are not supported", async () => {
    expect(await code(reference("text", 3), ok("abc"))).toBe("text");
  });

  test("joins pieces, without credentials and without compression", async () => {
    const part = await fetchPart(reference("text", 3), answering(piece("bytes 0-1/3", "ab"), piece("bytes 2-2/3", "c")));
    expect(part).toMatchObject({ kind: "text", text: "abc", metadata: undefined });
    expect(asked.map(({ headers }) => headers)).toEqual([
      { range: "bytes=0-1", accept: "*/*", "accept-encoding": "identity" },
      { range: "bytes=2-3", accept: "*/*", "accept-encoding": "identity" },
    ]);
  });

  test("rejects an empty answer", async () => {
    const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const answer: HttpResponse = { status: 416, headers: { "content-range": "bytes */0" }, body: undefined };
    expect(await code(reference("raw", 0, empty), answer)).toBe("raw");
  });

  for (const [what, want, ...answers] of [
    ["another digest", "bad_peer", ok("abd")],
    ["another size", "bad_peer", ok("abcd")],
    ["another size by range", "bad_peer", piece("bytes 0-1/4", "ab")],
    ["another range", "bad_peer", piece("bytes 1-2/3", "bc")],
    ["a smaller range than asked for", "bad_peer", piece("bytes 0-0/3", "a")],
    ["no range", "bad_peer", { status: 206, headers: {}, body: "ab" }],
    ["another version half way", "bad_peer", piece("bytes 0-1/3", "ab", '"1"'), piece("bytes 2-2/3", "c", '"2"')],
    ["a whole answer half way", "bad_peer", piece("bytes 0-1/3", "ab"), ok("abc")],
    ["a cut piece", "interrupted", piece("bytes 0-1/3", "a")],
    ["a cut connection", "interrupted", new AgentError("interrupted", "cut")],
    ["a longer piece than stated", "too_large", piece("bytes 0-1/3", "abc")],
    ["404", "not_found", { status: 404, headers: {}, body: "" }],
    ["410", "expired", { status: 410, headers: {}, body: "" }],
    ["403", "forbidden", { status: 403, headers: {}, body: "" }],
    ["503", "overloaded", { status: 503, headers: {}, body: "" }],
    ["500", "bad_peer", { status: 500, headers: {}, body: "" }],
    ["a redirect to nowhere", "bad_peer", { status: 302, headers: {}, body: "" }],
  ] as readonly (readonly [string, string, ...(HttpResponse | AgentError)[]])[])
    test(`${what} is ${want}, and is not tried again`, async () => {
      expect(await code(reference("text", 3), ...answers)).toBe(want);
      expect(asked).toHaveLength(answers.length);
    });

  test("does not request content announced as too large", async () => {
    expect(await code(reference("raw", 11))).toBe("too_large");
    expect(asked).toHaveLength(0);
  });

  test("stops at content that turns out too large", async () => {
    const bare: Part = { kind: "url", url: "http://127.0.0.1:1/x" };
    expect(await code(bare, piece("bytes 0-1/11", "ab"))).toBe("too_large");
    expect(await code(bare, ok("x".repeat(11)))).toBe("too_large");
  });

  test("fetches a foreign URL as raw bytes, checked by the digest its server states", async () => {
    const bare: Part = { kind: "url", url: "http://127.0.0.1:1/x", name: "n" };
    const digest = (value: string): HttpResponse => ok("abc", { "content-type": "image/png", "repr-digest": value });
    const good = await fetchPart(bare, answering(digest("sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")));
    expect(good).toEqual({
      kind: "raw",
      bytes: new TextEncoder().encode("abc"),
      mediaType: "image/png",
      name: "n",
      metadata: undefined,
    });
    expect(await code(bare, digest(`sha-256=:${"A".repeat(43)}=:`))).toBe("bad_peer");
  });

  test("rejects bytes that do not match the announcement", async () => {
    const notText = Buffer.from([0xff, 0xfe, 0xfd]);
    const digest = createHash("sha256").update(notText).digest("hex");
    expect(await code(reference("text", 3, digest), { status: 200, headers: {}, body: notText })).toBe("bad_peer");
    expect(await code(reference("data", 3), ok("abc"))).toBe("bad_peer");
  });

  test("follows redirects through the guard, and not for ever", async () => {
    const to = (location: string): HttpResponse => ({ status: 307, headers: { location }, body: "" });
    expect(await code(reference("text", 3), to("/y"), ok("abc"))).toBe("text");
    expect(asked.map(({ target }) => target)).toEqual(["http://127.0.0.1:1/x", "http://127.0.0.1:1/y"]);
    expect(await code(reference("text", 3), to("http://169.254.169.254/"))).toBe("forbidden");
    expect(await code(reference("text", 3), to("/1"), to("/2"), to("/3"), to("/4"))).toBe("bad_peer");
  });

  test("requests only addresses the guard allows", async () => {
    const outside = { ...answering(ok("abc")), guard: createGuard({ from: "public", resolve }) };
    await expect(fetchPart(reference("text", 3), outside)).rejects.toMatchObject({ code: "forbidden" });
    expect(asked).toHaveLength(0);
  });

  test("closes every link it opened, and hands on the cancel", async () => {
    const cancel = new CancelSource();
    let open = 0;
    const options = answering(ok("abc"));
    const linkTo: FetchOptions["linkTo"] = (target) => {
      open++;
      return { exchange: options.linkTo(target).exchange, close: async () => void open-- };
    };
    await fetchPart(reference("text", 3), { ...options, linkTo, cancel });
    expect(asked[0]?.cancel).toBe(cancel);
    await expect(fetchPart(reference("text", 4), { ...answering(ok("abc")), linkTo })).rejects.toThrow();
    expect(open).toBe(0);
  });
});
