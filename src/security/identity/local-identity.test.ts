import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createIdentity, type LocalIdentity } from "./local-identity.js";
import { decodeMultikey } from "./multikey.js";
import { keyFingerprint, keyIn, verifySignature } from "./public-key.js";
import { readDidDocument } from "./read-did-document.js";
import { writeDidDocument } from "./write-did-document.js";

const DID = "did:web:agent.example";
const text = new TextEncoder().encode("hello");

function identityAt(start = 1_000): { identity: LocalIdentity; clock: { now: number } } {
  const clock = { now: start };
  return { identity: createIdentity({ name: "support", did: DID, now: () => clock.now }), clock };
}

describe("createIdentity()", () => {
  test("makes a key to sign with and one to agree with", () => {
    const { identity } = identityAt();
    expect(identity.keys().map(({ id, kind, uses }) => [id, kind, uses])).toEqual([
      [`${DID}#key-1`, "Ed25519", ["authentication", "assertion"]],
      [`${DID}#key-2`, "X25519", ["agreement"]],
    ]);
  });

  test.each(["Ed25519", "P-256", "secp256k1"] as const)("makes the did:key of a %s key", async (kind) => {
    const identity = createIdentity({ name: "k", did: "key", kinds: [kind] });
    const [key] = identity.keys();
    const encoded = identity.did.slice("did:key:".length);
    expect(decodeMultikey(encoded)).toEqual({ kind, bytes: key?.bytes });
    expect(key?.id).toBe(`${identity.did}#${encoded}`);
  });

  test("takes a DID that depends on its key", () => {
    const identity = createIdentity({ name: "k", did: ({ kind, bytes }) => `did:x:${kind}:${bytes.length}` });
    expect(identity.did).toBe("did:x:Ed25519:32");
  });

  test.each([
    ["a DID that is none", { did: "agent.example" }, "not a DID"],
    ["a DID URL", { did: `${DID}#key-1` }, "not a DID"],
    ["only a key for agreement", { did: DID, kinds: ["X25519" as const] }, "must be one that signs"],
    ["no keys", { did: DID, kinds: [] }, "must be one that signs"],
    ["two keys of a did:key", { did: "key", kinds: ["Ed25519" as const, "X25519" as const] }, "exactly one key"],
    ["two keys of one kind", { did: DID, kinds: ["Ed25519" as const, "Ed25519" as const] }, "one key of each kind"],
    ["a name with a slash", { did: DID, name: "a/b" }, "invalid identity name"],
  ])("refuses %s", (_, options, problem) => {
    expect(() => createIdentity({ name: "x", ...options })).toThrow(problem);
  });
});

describe("private keys", () => {
  const secretsOf = (identity: LocalIdentity): readonly string[] =>
    identity.history().map((key) => String(key.privateJwk()?.["d"]));

  test("are in no JSON, inspection, clone, string or error", () => {
    const { identity } = identityAt();
    const secrets = secretsOf(identity);
    expect(secrets).toHaveLength(2);
    const shown = { name: "support", did: DID };
    expect(JSON.parse(JSON.stringify(identity))).toEqual(shown);
    expect(structuredClone(identity)).toEqual(shown);
    expect({ ...identity }).toEqual(shown);
    expect(inspect(identity, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true })).toBe(
      `LocalIdentity { name: 'support', did: '${DID}' }`,
    );
    const errors: string[] = [];
    for (const act of [
      () => identity.sign(`${DID}#none`, text),
      () => identity.sign(`${DID}#key-2`, text),
      () => identity.agree(`${DID}#key-1`, text),
    ])
      try {
        act();
      } catch (thrown) {
        errors.push(inspect(thrown, { depth: 10, showHidden: true }), JSON.stringify(thrown));
      }
    expect(errors).toHaveLength(6);
    const everything = [
      ...errors,
      String(identity),
      JSON.stringify(identity.keys()),
      inspect(identity.history(), { depth: 10, showHidden: true }),
    ];
    for (const secret of secrets) for (const written of everything) expect(written).not.toContain(secret);
  });
});

describe("rotation and revocation", () => {
  const documentOf = (identity: LocalIdentity, now: number) =>
    readDidDocument(
      new TextEncoder().encode(JSON.stringify(writeDidDocument({ did: identity.did, keys: identity.published() }))),
      DID,
      now,
    );

  test("a rotated key signs no more, and its signatures are valid until the end of the overlap", async () => {
    const { identity, clock } = identityAt();
    const signature = await identity.sign(`${DID}#key-1`, text);
    clock.now = 2_000;
    const next = identity.rotated({ overlapMs: 5_000, kinds: ["Ed25519"] });
    expect(next.keys().map(({ id }) => id)).toEqual([`${DID}#key-3`, `${DID}#key-2`]);
    expect(() => next.sign(`${DID}#key-1`, text)).toThrow(expect.objectContaining({ code: "not_found" }));
    const during = documentOf(next, 6_999).keys;
    expect(verifySignature(keyIn(during, `${DID}#key-1`, DID), "assertion", text, signature)).toBe(true);
    expect(verifySignature(keyIn(during, `${DID}#key-3`, DID), "assertion", text, await next.sign(`${DID}#key-3`, text))).toBe(
      true,
    );
    expect(documentOf(next, 7_000).keys.map(({ id }) => id)).toEqual([`${DID}#key-3`, `${DID}#key-2`]);
    clock.now = 7_000;
    expect(next.published().map(({ id }) => id)).toEqual([`${DID}#key-3`, `${DID}#key-2`]);
    expect(next.history().map(({ id, rotated, expires }) => [id, rotated, expires])).toContainEqual([
      `${DID}#key-1`,
      2_000,
      7_000,
    ]);
  });

  test("an old key for agreement opens what is under way until then", () => {
    const { identity, clock } = identityAt();
    const peer = createIdentity({ name: "peer", did: "did:web:peer.example" });
    const peerKey = peer.keys().find(({ kind }) => kind === "X25519");
    const oldKey = identity.keys().find(({ kind }) => kind === "X25519");
    const next = identity.rotated({ overlapMs: 5_000 });
    const shared = peer.agree(peerKey?.id ?? "", oldKey?.bytes ?? text);
    expect(next.agree(`${DID}#key-2`, peerKey?.bytes ?? text)).toEqual(shared);
    clock.now = 6_000;
    expect(() => next.agree(`${DID}#key-2`, peerKey?.bytes ?? text)).toThrow(expect.objectContaining({ code: "expired" }));
  });

  test("a revoked key is not published and cannot be used", () => {
    const { identity, clock } = identityAt();
    clock.now = 3_000;
    const next = identity.revoked(`${DID}#key-1`);
    expect(next.published().map(({ id }) => id)).toEqual([`${DID}#key-2`]);
    expect(() => next.sign(`${DID}#key-1`, text)).toThrow("it is revoked");
    expect(next.history()[0]).toMatchObject({ revoked: 3_000, hasPrivate: false });
    expect(() => next.revoked(`${DID}#key-9`)).toThrow(expect.objectContaining({ code: "not_found" }));
  });

  test("a key that the DID names cannot be rotated, and other kinds can", () => {
    const named = createIdentity({ name: "bound", did: (key) => `did:example:e1_${keyFingerprint(key)}` });
    expect(() => named.rotated({ overlapMs: 0 })).toThrow("is the DID of its Ed25519 key");
    expect(() => named.rotated({ overlapMs: 0, kinds: ["Ed25519"] })).toThrow("is the DID of its Ed25519 key");
    expect(named.rotated({ overlapMs: 0, kinds: ["X25519"] }).did).toBe(named.did);
  });

  test("a did:key cannot be rotated, and an identity has an end", () => {
    const { identity } = identityAt();
    expect(() => createIdentity({ name: "k", did: "key" }).rotated({ overlapMs: 1 })).toThrow("create a new identity");
    expect(() => identity.rotated({ overlapMs: 1, kinds: ["P-256"] })).toThrow("has no P-256 key to rotate");
    let many = identity;
    const rotateMany = () => {
      for (let round = 0; round < 40; round++) many = many.rotated({ overlapMs: 1 });
    };
    expect(rotateMany).toThrow("at most 64 keys");
  });
});
