import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../../test/redis-server.js";
import { AgentError, ANONYMOUS, type Principal, startCall } from "../envelope/index.js";
import type { Exchange, HttpRequest } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import { openDiskArtifacts } from "./disk-store.js";
import { createArtifactLinks } from "./links.js";
import { createMemoryArtifacts } from "./memory-store.js";
import { openRedisArtifacts } from "./redis-store.js";
import { artifactExchange } from "./serve.js";
import type { ArtifactStore } from "./store.js";
import { findUploads, type UploadContext, type UploadSource, uploadPart } from "./upload.js";
import { PIECE_BYTES, uploadExchange } from "./uploads.js";

const ALICE: Principal = { ...ANONYMOUS, scheme: "bearer", id: "alice", owner: "bearer:alice" };
const BOB: Principal = { ...ALICE, id: "bob", owner: "bearer:bob" };
const LIMITS = {
  artifactBytes: 8_000_000,
  bytesPerOwner: 9_000_000,
  uploadsPerOwner: 2,
  totalBytes: 12_000_000,
  keepMs: 1_000,
  uploadKeepMs: 1_000,
};
let now = 1_000_000;
let folder: string;
let redis: RedisServer | undefined;
const hasRedis = await redisAvailable();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-uploads-"));
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await redis?.stop();
});

const options = () => ({ limits: LIMITS, now: () => now, newId: () => randomUUID() });
const STORES: readonly (readonly [string, () => Promise<ArtifactStore>])[] = [
  ["memory", async () => createMemoryArtifacts(options())],
  ["disk", () => openDiskArtifacts(join(folder, randomUUID()), options())],
  ...(hasRedis
    ? [["redis", () => openRedisArtifacts({ ...options(), url: redis?.url ?? "", prefix: randomUUID() })] as const]
    : []),
];

function sourceOf(bytes: Uint8Array): UploadSource & { readonly reads: number[] } {
  const reads: number[] = [];
  return {
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    name: "film.bin",
    reads,
    async read({ start, end }) {
      reads.push(start);
      return bytes.subarray(start, end);
    },
  };
}

/** A host with this store; the caller is who the test says. */
function hostOf(store: ArtifactStore) {
  const links = createArtifactLinks({ secret: new Uint8Array(32).fill(7), baseUrl: () => "http://h:1", now: () => now });
  const caller = { now: ALICE };
  const admit = (): Principal => caller.now;
  const upload = uploadExchange({ store, links, admit });
  const serve = artifactExchange({ store, links, admit });
  const exchange: Exchange = (request) =>
    request.path === "/artifacts" || request.method === "PATCH"
      ? upload(request)
      : request.path.startsWith("/artifacts/")
        ? serve(request)
        : { status: 404, headers: {}, body: "" };
  return { exchange, caller };
}

const context = (exchange: Exchange): UploadContext => ({
  exchange,
  call: startCall({}),
  addresses: ["http://h:1/some/interface"],
  wait: async () => undefined,
});

async function uploaded(source: UploadSource, exchange: Exchange) {
  const made = context(exchange);
  const offer = await findUploads(made);
  if (offer === undefined) throw new Error("no store is offered");
  return uploadPart(source, offer, made);
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (thrown: unknown) => AgentError.from(thrown).code,
  );

describe.each(STORES)("uploads to a store in %s", (_kind, open) => {
  test("arrive in pieces, whole, and for their owner only", async () => {
    const store = await open();
    const { exchange, caller } = hostOf(store);
    const content = randomBytes(3 * PIECE_BYTES + 5);
    const source = sourceOf(content);
    const part = await uploaded(source, exchange);
    expect(source.reads).toEqual([0, 1, 2, 3].map((piece) => piece * PIECE_BYTES));
    expect(part).toMatchObject({
      kind: "url",
      name: "film.bin",
      metadata: { "urn:koine:artifact:1": { kind: "raw", bytes: content.length, sha256: source.sha256 } },
    });
    const url = part.kind === "url" ? part.url : "";
    const read = async (): Promise<number> => (await exchange(makeRequest({ method: "GET", url }))).status;
    expect(await read()).toBe(200);
    caller.now = BOB;
    expect(await read()).toBe(404);
    await store.close?.();
  });

  test("go on where they stood after a cut, also when begun again, and are not sent twice", async () => {
    const store = await open();
    const { exchange } = hostOf(store);
    const source = sourceOf(randomBytes(3 * PIECE_BYTES));
    let pieces = 0;
    const cutting = async (request: HttpRequest) => {
      const answer = await exchange(request);
      // The second piece is stored, and its answer is lost; the third never arrives.
      if (request.method === "PATCH" && ++pieces === 2) throw new AgentError("interrupted", "cut", { sent: "maybe" });
      return answer;
    };
    await uploaded(source, cutting);
    expect(source.reads).toEqual([0, PIECE_BYTES, 2 * PIECE_BYTES]);
    const again = sourceOf(await source.read({ start: 0, end: source.bytes }));
    await uploaded(again, exchange);
    expect(again.reads).toEqual([]);
    await store.close?.();
  });

  test("are refused above their limits, before a piece is sent", async () => {
    const store = await open();
    const { exchange, caller } = hostOf(store);
    const tooLarge = sourceOf(new Uint8Array(LIMITS.artifactBytes + 1));
    expect([await codeOf(uploaded(tooLarge, exchange)), tooLarge.reads]).toEqual(["too_large", []]);
    await uploaded(sourceOf(randomBytes(7_000_000)), exchange);
    const second = sourceOf(randomBytes(3_000_000));
    expect([await codeOf(uploaded(second, exchange)), second.reads]).toEqual(["overloaded", []]);
    caller.now = BOB;
    const third = sourceOf(randomBytes(6_000_000));
    expect([await codeOf(uploaded(third, exchange)), third.reads]).toEqual(["overloaded", []]);
    await store.close?.();
  });

  test("in progress are counted, and removed when nothing follows", async () => {
    const store = await open();
    const begin = (name: string) => store.begin(name, { owner: ALICE.owner, bytes: 10, sha256: "0".repeat(64) });
    await begin("one");
    await begin("two");
    expect(await codeOf(begin("three"))).toBe("overloaded");
    expect((await begin("one")).offset).toBe(0);
    now += 1_000;
    expect(await store.sweep()).toBe(2);
    expect(await codeOf(begin("three"))).toBe("done");
    await store.close?.();
  });

  test("have the announced digest, size and ranges", async () => {
    const store = await open();
    const { exchange, caller } = hostOf(store);
    const begin = async (bytes: number, sha256: string) => {
      const body = JSON.stringify({ bytes, sha256 });
      const answer = await exchange(makeRequest({ method: "POST", url: "http://h:1/artifacts", body }));
      return String(JSON.parse(String(answer.body)).id);
    };
    const patch = async (id: string, range: string, body: string) =>
      exchange(makeRequest({ method: "PATCH", url: `http://h:1/artifacts/${id}`, headers: { "content-range": range }, body }));
    const id = await begin(4, createHash("sha256").update("abcd").digest("hex"));
    expect((await patch(id, "bytes 0-1/5", "ab")).status).toBe(400);
    expect((await patch(id, "bytes 0-2/4", "ab")).status).toBe(400);
    expect((await patch(id, "nonsense", "ab")).status).toBe(400);
    expect(await patch(id, "bytes 2-3/4", "cd")).toMatchObject({ status: 409, body: expect.stringContaining('"offset":0') });
    caller.now = BOB;
    expect((await patch(id, "bytes 0-1/4", "ab")).status).toBe(404);
    caller.now = ALICE;
    expect((await patch(id, "bytes 0-1/4", "ab")).status).toBe(200);
    // The same piece again, as after a lost answer.
    expect(await patch(id, "bytes 0-1/4", "ab")).toMatchObject({ status: 200, body: expect.stringContaining('"offset":2') });
    const wrong = await patch(id, "bytes 2-3/4", "xx");
    expect([wrong.status, String(wrong.body)]).toEqual([400, expect.stringContaining("do not have the announced digest")]);
    expect((await patch(id, "bytes 0-1/4", "ab")).status).toBe(404);
    await store.close?.();
  });

  test("are kept while a task refers to them", async () => {
    const store = await open();
    const info = await store.put(new TextEncoder().encode("abc"), { owner: ALICE.owner, task: "task-1" });
    const isReferred = (_owner: string, tasks: readonly string[]): boolean => tasks.includes("task-1");
    now += 5_000;
    expect(await store.find(info.id)).toBeUndefined();
    expect(await store.find(info.id, isReferred)).toMatchObject({ id: info.id });
    expect([await store.sweep(), await store.sweep(isReferred), await store.sweep(() => false)]).toEqual([0, 0, 0]);
    now += 5_000;
    expect(await store.sweep(() => false)).toBe(1);
    expect(await store.find(info.id, isReferred)).toBeUndefined();
    await store.close?.();
  });
});

test("a host that offers nothing is no artifact store, whatever it answers", async () => {
  const answers = ["{}", "<html>", '{"artifacts":"urn:koine:artifacts:2","artifactBytes":1}', ""];
  for (const body of answers) {
    const exchange: Exchange = () => ({ status: 200, headers: { "content-type": "application/json" }, body });
    expect(await findUploads(context(exchange))).toBeUndefined();
  }
});
