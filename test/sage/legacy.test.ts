import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordsBelow } from "../../src/envelope/index.js";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import { readHttpRequest } from "../../src/protocols/sage/legacy/http-message.js";
import { LEGACY_SIGNATURES, verifyLegacyRequest } from "../../src/protocols/sage/legacy/legacy-signatures.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import type { LocalIdentity, PublicKey } from "../../src/security/identity/index.js";
import { MessageSigner, type SignatureProfile, type SignedRequest } from "../../src/security/signatures/index.js";
import { openSqliteStore } from "../../src/tasks/stores/sqlite.js";
import { koine } from "../cli/koine.js";
import { newAgent, register } from "./registries.js";

/** The old form of signatures: verified and nothing else. test/interop has the requests of the original. */

const NOW = 1_800_000_000_000;
const BODY = Buffer.from('{"jsonrpc":"2.0","method":"message/send","id":1}');
const ALGORITHMS = { Ed25519: "ed25519", secp256k1: "es256k" } as const;

let folder: string;
let store: Awaited<ReturnType<typeof openSqliteStore>>;
let registry: EmbeddedRegistry;
let agent: LocalIdentity;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "koine-sage-"));
  store = await openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now });
  registry = new EmbeddedRegistry(recordsBelow(store.records, "sage"), { network: "local", now: () => NOW });
  agent = await newAgent();
  await register({ registry, fund: async () => undefined }, agent);
});
afterAll(async () => {
  await store.close?.();
  rmSync(folder, { recursive: true });
});

function keyOf(kind: PublicKey["kind"]): PublicKey {
  const key = agent.keys().find((each) => each.kind === kind);
  if (key === undefined) throw new Error(`no ${kind} key`);
  return key;
}

interface Signing {
  readonly kind?: keyof typeof ALGORITHMS;
  readonly profile?: Partial<SignatureProfile>;
  readonly keyId?: string;
  readonly target?: string;
  readonly method?: string;
  readonly at?: number;
}

async function signed(signing: Signing = {}): Promise<SignedRequest> {
  const { kind = "Ed25519", profile, keyId = agent.did, method = "POST", at = NOW } = signing;
  const signer = new MessageSigner({
    profile: { ...LEGACY_SIGNATURES, ...profile },
    key: { keyId, algorithm: ALGORITHMS[kind], sign: (base) => agent.sign(keyOf(kind).id, base) },
    now: () => at,
  });
  const request = {
    method,
    target: signing.target ?? "https://agent.example/rpc",
    headers: { "content-type": "application/json" },
  };
  return { ...request, headers: { ...request.headers, ...(await signer.request(request, BODY)) } };
}

const verify = (request: SignedRequest, body: Uint8Array = BODY, nowMs = NOW) =>
  verifyLegacyRequest(request, body, { cache: new DidCache({ registries: [registry] }), nowMs });

test.each(["Ed25519", "secp256k1"] as const)(
  "a request signed by the %s key is valid, and what it leaves open is named",
  async (kind) => {
    expect(await verify(await signed({ kind }))).toEqual({
      did: agent.did,
      key: keyOf(kind).id,
      algorithm: ALGORITHMS[kind],
      fromMs: NOW - 30_000,
      untilMs: NOW + 330_000,
      open: ["host", "replay", "content-type"],
    });
  },
);

test("what more is signed is not named as open", async () => {
  const { sign } = LEGACY_SIGNATURES.request;
  const request = { sign: [...sign, "@authority", "content-type"] };
  const profile = { parameters: ["keyid", "alg", "created", "expires", "nonce"] as const, request };
  expect((await verify(await signed({ profile }))).open).toEqual([]);
});

describe("is refused:", () => {
  const refused = (problem: string) => ({ problem });

  test.each<[string, (request: SignedRequest) => SignedRequest, string]>([
    ["another method", (request) => ({ ...request, method: "PUT" }), "wrong"],
    ["another path", (request) => ({ ...request, target: "https://agent.example/admin" }), "wrong"],
    ["another query", (request) => ({ ...request, target: "https://agent.example/rpc?all=1" }), "wrong"],
    ["an escaped path", (request) => ({ ...request, target: "https://agent.example/%72pc" }), "coverage"],
    ["no signature", ({ headers: { signature: _, ...headers }, ...request }) => ({ ...request, headers }), "missing"],
    ["a second signature", (request) => twice(request), "ambiguous"],
    ["another algorithm by name", (request) => changedInput(request, 'alg="ed25519"', 'alg="hmac-sha256"'), "algorithm"],
    ["a later time", (request) => changedInput(request, /created=\d+/, `created=${NOW / 1_000 + 5}`), "wrong"],
    ["less coverage", (request) => changedInput(request, ' "content-digest"', ""), "coverage"],
  ])("%s", async (_, change, problem) => {
    await expect(verify(change(await signed()))).rejects.toMatchObject(refused(problem));
  });

  test("another body, also with its own digest", async () => {
    const request = await signed();
    await expect(verify(request, Buffer.from("{}"))).rejects.toMatchObject(refused("digest_mismatch"));
    const digest = { "content-digest": "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:" };
    const swapped = { ...request, headers: { ...request.headers, ...digest } };
    await expect(verify(swapped, Buffer.from("{}"))).rejects.toMatchObject(refused("wrong"));
  });

  test("a signature that is too old or of the future", async () => {
    const request = await signed();
    await expect(verify(request, BODY, NOW + 330_000)).rejects.toMatchObject(refused("expired"));
    await expect(verify(request, BODY, NOW - 31_000)).rejects.toMatchObject(refused("not_yet_valid"));
  });

  test("the key of another DID, an unknown DID, and a keyid that is no DID", async () => {
    const other = await newAgent();
    await register({ registry, fund: async () => undefined }, other);
    await expect(verify(await signed({ keyId: other.did }))).rejects.toMatchObject(refused("wrong"));
    const unresolved = (reason: string) => ({ name: "ErrDIDNotResolved", reason });
    const nobody = (await newAgent()).did;
    await expect(verify(await signed({ keyId: nobody }))).rejects.toMatchObject(unresolved("record.not-found"));
    await expect(verify(await signed({ keyId: `${agent.did}#key-2` }))).rejects.toMatchObject(unresolved("id.malformed"));
  });

  test("a revoked key, and every key of a deactivated agent", async () => {
    const [own, previous] = [await newAgent(), agent];
    const account = await register({ registry, fund: async () => undefined }, own);
    agent = own;
    try {
      const request = await signed();
      expect(await verify(request)).toMatchObject({ did: own.did });
      await registry.submit(account, { kind: "revoke", name: "key-2" });
      await expect(verify(request)).rejects.toMatchObject(refused("algorithm"));
      await registry.submit(account, { kind: "deactivate" });
      await expect(verify(request)).rejects.toMatchObject({ name: "ErrDIDNotResolved", reason: "record.inactive" });
    } finally {
      agent = previous;
    }
  });
});

/** The signature once more under another label. */
function twice(request: SignedRequest): SignedRequest {
  const { "signature-input": input = "", signature = "" } = request.headers;
  const more = {
    "signature-input": `${input}, ${input.replace("sig1", "sig2")}`,
    signature: `${signature}, ${signature.replace("sig1", "sig2")}`,
  };
  return { ...request, headers: { ...request.headers, ...more } };
}

function changedInput(request: SignedRequest, from: string | RegExp, to: string): SignedRequest {
  const input = request.headers["signature-input"] ?? "";
  const changed = input.replace(from, to);
  if (changed === input) throw new Error(`${String(from)} is not in ${input}`);
  return { ...request, headers: { ...request.headers, "signature-input": changed } };
}

/** The request as it is on the wire. */
function wire({ method, target, headers }: SignedRequest, body: Uint8Array, eol = "\r\n"): Buffer {
  const { host, pathname, search } = new URL(target);
  const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from([`${method} ${pathname}${search} HTTP/1.1`, ...fields, "", ""].join(eol)), body]);
}

test.each(["\r\n", "\n"])("a request in a file is read with lines that end in %j", async (eol) => {
  const request = await signed();
  const read = readHttpRequest(wire(request, BODY, eol));
  expect(Buffer.from(read.body).equals(BODY)).toBe(true);
  expect(read.request).toEqual({ ...request, headers: { host: "agent.example", ...request.headers } });
});

test.each([
  ["nothing", "", "it has no empty line"],
  ["no end of the head", "GET / HTTP/1.1\r\nhost: a\r\n", "it has no empty line"],
  ["another version", "GET / HTTP/2\r\nhost: a\r\n\r\n", "its first line"],
  ["no host", "GET / HTTP/1.1\r\n\r\n", "neither a field Host"],
  ["a folded field", "GET / HTTP/1.1\r\nhost: a\r\n folded\r\n\r\n", "is not a field"],
  ["a head that is too large", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(70_000)}\r\n\r\n`, "it has no empty line"],
])("a file that is no request is refused: %s", (_, text, problem) => {
  expect(() => readHttpRequest(Buffer.from(text))).toThrow(problem);
});

test("fields that occur twice are joined, and an absolute target stays", () => {
  const { request } = readHttpRequest(Buffer.from("GET http://a.example/x HTTP/1.1\r\nX-A: 1\r\nx-a:  2 \r\n\r\n"));
  expect(request).toEqual({ method: "GET", target: "http://a.example/x", headers: { "x-a": "1, 2" } });
});

test("koine sage legacy verify judges a file", { timeout: 60_000 }, async () => {
  const file = join(folder, "request.http");
  const request = await signed();
  writeFileSync(file, wire(request, BODY));
  const at = ["--at", new Date(NOW).toISOString(), "--data", folder];
  const judged = await koine(["sage", "legacy", "verify", file, ...at]);
  expect([judged.code, judged.stderr]).toEqual([0, ""]);
  expect(judged.stdout).toBe(
    `valid, signed by ${agent.did}#key-2 (ed25519)\nnot protected by the signature: host, replay, content-type\n`,
  );
  writeFileSync(file, wire({ ...request, target: "https://agent.example/admin" }, BODY));
  const refused = await koine(["sage", "legacy", "verify", file, ...at]);
  expect([refused.code === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining("the signature does not match the message"),
  ]);
  const wrong = await koine(["sage", "legacy", "verify", file, "--at", "yesterday", "--data", folder]);
  expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining("--at takes a time")]);
  writeFileSync(file, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const unsigned = await koine(["sage", "legacy", "verify", file, ...at]);
  expect([unsigned.code === 0, unsigned.stderr]).toEqual([false, expect.stringContaining("no signature with a keyid")]);
});
