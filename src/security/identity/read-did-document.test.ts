import { describe, expect, test } from "vitest";
import { PYTHON_KEYS, PYTHON_X25519, W3C_DID_KEYS } from "../../../test/helpers/key-vectors.js";
import { DID_DOCUMENT_LIMITS, readDidDocument } from "./read-did-document.js";

const DID = "did:web:agent.example";
const NOW = Date.parse("2026-11-17T08:00:00Z");
const ED = PYTHON_KEYS.Ed25519;
const { d: _ed, ...edJwk } = ED.jwk;
const { d: _p256, ...p256Jwk } = PYTHON_KEYS["P-256"].jwk;

const bytesOf = (document: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(document));
const read = (members: object) => readDidDocument(bytesOf({ id: DID, ...members }), DID, NOW);
const multikey = (id: string, publicKeyMultibase: string = ED.multikey, more: object = {}) => ({
  id,
  type: "Multikey",
  controller: DID,
  publicKeyMultibase,
  ...more,
});
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");

describe("readDidDocument()", () => {
  test("reads keys by reference, embedded and relative, with what each is listed for", () => {
    const document = read({
      verificationMethod: [
        multikey(`${DID}#key-1`),
        multikey("#key-2", PYTHON_KEYS["P-256"].multikey),
        multikey("#key-3", PYTHON_X25519.multikey),
        multikey("#unlisted", PYTHON_KEYS.secp256k1.multikey),
      ],
      authentication: ["#key-1", multikey("#embedded", PYTHON_KEYS.secp256k1.multikey)],
      assertionMethod: [`${DID}#key-1`, `${DID}#key-2`],
      keyAgreement: ["#key-3"],
    });
    expect(document.keys.map(({ id, kind, uses }) => [id, kind, uses])).toEqual([
      [`${DID}#key-1`, "Ed25519", ["authentication", "assertion"]],
      [`${DID}#key-2`, "P-256", ["assertion"]],
      [`${DID}#key-3`, "X25519", ["agreement"]],
      [`${DID}#embedded`, "secp256k1", ["authentication"]],
    ]);
  });

  test("keeps the received bytes", () => {
    const bytes = new TextEncoder().encode(` {"id" :"${DID}"}\n`);
    const document = readDidDocument(bytes, DID, NOW);
    expect(document.bytes).toEqual(bytes);
    bytes.fill(0);
    expect(document.bytes[1]).toBe(0x7b);
  });

  test.each([
    ["JsonWebKey2020", { publicKeyJwk: p256Jwk }, PYTHON_KEYS["P-256"].bytes],
    ["Ed25519VerificationKey2020", { publicKeyMultibase: ED.multikey }, ED.bytes],
    ["Ed25519VerificationKey2018", { publicKeyJwk: edJwk }, ED.bytes],
    ["EcdsaSecp256k1VerificationKey2019", { publicKeyMultibase: PYTHON_KEYS.secp256k1.multikey }, PYTHON_KEYS.secp256k1.bytes],
    ["EcdsaSecp256r1VerificationKey2019", { publicKeyJwk: p256Jwk }, PYTHON_KEYS["P-256"].bytes],
  ])("reads %s", (type, material, bytes) => {
    const { keys } = read({ assertionMethod: [{ id: "#k", type, controller: DID, ...material }] });
    expect(hex(keys[0]?.bytes)).toBe(bytes);
  });

  test("reads the base58 forms of the did:key examples", () => {
    const types: { readonly [kind: string]: string } = {
      Ed25519: "Ed25519VerificationKey2018",
      X25519: "X25519KeyAgreementKey2019",
      secp256k1: "EcdsaSecp256k1VerificationKey2019",
    };
    const examples = W3C_DID_KEYS.filter(({ base58 }) => base58 !== undefined);
    const methods = examples.map(({ kind, base58 }, index) => ({ id: `#${index}`, type: types[kind], publicKeyBase58: base58 }));
    const { keys } = read({ verificationMethod: methods, assertionMethod: ["#0", "#2"], keyAgreement: ["#1"] });
    expect(keys.map(({ kind }) => kind)).toEqual(["Ed25519", "X25519", "secp256k1"]);
  });

  test("reads X25519KeyAgreementKey2019 without a multicodec prefix, as some peers write it", () => {
    const raw = "zCBDzQpmG78nPHyNs5fcY2kqFRJHYgd2fiwaHhq8LWRk6"; // Python base58 2.1.1 of the bytes of the vector
    const { keys } = read({ keyAgreement: [{ id: "#k", type: "X25519KeyAgreementKey2019", publicKeyMultibase: raw }] });
    expect(hex(keys[0]?.bytes)).toBe(PYTHON_X25519.bytes);
  });

  test.each([
    ["of an unknown type", { ...multikey("#k"), type: "RsaVerificationKey2018" }],
    [
      "with a curve that is not used here",
      { id: "#k", type: "JsonWebKey2020", publicKeyJwk: { kty: "EC", crv: "P-384", x: "", y: "" } },
    ],
    ["under the control of another DID", { ...multikey("#k"), controller: "did:web:other.example" }],
    ["of another DID", multikey("did:web:other.example#k")],
    ["that expired", multikey("#k", ED.multikey, { expires: "2026-11-17T08:00:00Z" })],
    ["that was revoked", multikey("#k", ED.multikey, { revoked: "2026-11-01T00:00:00Z" })],
    ["for agreement that is listed for signatures", multikey("#k", PYTHON_X25519.multikey)],
  ])("leaves out a key %s", (_, method) => {
    expect(read({ verificationMethod: [method], assertionMethod: [method.id] }).keys).toEqual([]);
  });

  test("a signing key that is listed for agreement verifies nothing", () => {
    expect(read({ keyAgreement: [multikey("#k")] }).keys).toEqual([]);
  });

  test("says until when a key is valid", () => {
    const method = multikey("#k", ED.multikey, { expires: "2026-12-01T00:00:00Z", revoked: "2026-11-20T00:00:00Z" });
    expect(read({ assertionMethod: [method] }).keys[0]?.expires).toBe(Date.parse("2026-11-20T00:00:00Z"));
  });

  test("a deactivated document has no keys; its successor is named", () => {
    const document = read({ assertionMethod: [multikey("#k")], deactivated: true, successorDid: "did:web:next.example" });
    expect(document).toMatchObject({ deactivated: true, keys: [], successor: "did:web:next.example" });
  });

  test("reads services in all forms of DID Core", () => {
    const { services } = read({
      service: [
        { id: "#a", type: "Agent", serviceEndpoint: "https://agent.example/a" },
        { id: `${DID}#b`, type: ["Other", "More"], serviceEndpoint: ["https://one.example", { uri: "https://two.example" }] },
        { id: "#c", type: "Thing", serviceEndpoint: { origins: ["https://three.example"] } },
      ],
    });
    expect(services).toEqual([
      { id: `${DID}#a`, type: "Agent", url: "https://agent.example/a" },
      { id: `${DID}#b`, type: "Other", url: "https://one.example" },
      { id: `${DID}#b`, type: "Other", url: "https://two.example" },
    ]);
  });
});

describe("readDidDocument() refuses", () => {
  test.each([
    ["another id", { id: "did:web:other.example" }, "id", "another DID"],
    ["an expired document", { expires: "2026-11-17T07:59:59Z" }, "expires", "has passed"],
    ["an absurd date", { expires: "soon" }, "expires", "timestamp"],
    [
      "a private key",
      { verificationMethod: [{ id: "#k", type: "JsonWebKey2020", publicKeyJwk: ED.jwk }] },
      "verificationMethod[0]",
      "private key",
    ],
    [
      "a private key of an unknown type",
      { verificationMethod: [{ id: "#k", type: "X", privateKeyJwk: {} }] },
      "verificationMethod[0]",
      "private key",
    ],
    [
      "two keys with one id",
      { verificationMethod: [multikey("#k"), multikey(`${DID}#k`)] },
      "verificationMethod[1].id",
      "like that of another",
    ],
    [
      "an embedded key with a known id",
      { verificationMethod: [multikey("#k")], authentication: [multikey("#k")] },
      "authentication[0].id",
      "like that of another",
    ],
    [
      "a key in two forms",
      { verificationMethod: [{ ...multikey("#k"), publicKeyJwk: edJwk }] },
      "verificationMethod[0]",
      "more than one form",
    ],
    ["a key without bytes", { verificationMethod: [{ id: "#k", type: "Multikey" }] }, "verificationMethod[0]", "no public key"],
    [
      "a key of another kind than its type",
      { verificationMethod: [{ ...multikey("#k", PYTHON_X25519.multikey), type: "Ed25519VerificationKey2020" }] },
      "verificationMethod[0].publicKeyMultibase",
      "is a X25519 key",
    ],
    [
      "a key that is none",
      { verificationMethod: [multikey("#k", "z6Mk")] },
      "verificationMethod[0].publicKeyMultibase",
      "not a valid Multikey",
    ],
    ["keys that are no list", { verificationMethod: {} }, "verificationMethod", "must be an array"],
    ["a key without a type", { verificationMethod: [{ id: "#k" }] }, "verificationMethod[0].type", "missing"],
    ["a reference that is a number", { authentication: [1] }, "authentication[0]", "must be a string"],
    ["deactivated in words", { deactivated: "no" }, "deactivated", "true or false"],
    ["a successor that is no DID", { successorDid: "https://next.example" }, "successorDid", "not a DID"],
    [
      "a service that is no address",
      { service: [{ id: "#s", type: "Agent", serviceEndpoint: "agent" }] },
      "service[0].serviceEndpoint",
      "not an address",
    ],
    [
      "two services with one id",
      { service: ["#s", "#s"].map((id) => ({ id, type: "Agent", serviceEndpoint: "https://a.example" })) },
      "service[1].id",
      "like that of another",
    ],
    [
      "too many keys",
      { verificationMethod: Array.from({ length: DID_DOCUMENT_LIMITS.keys + 1 }, (_, index) => multikey(`#${index}`)) },
      "verificationMethod[64]",
      "limit of 64",
    ],
    [
      "too many services",
      { service: Array.from({ length: DID_DOCUMENT_LIMITS.services + 1 }, () => ({})) },
      "service",
      "limit is 64",
    ],
    [
      "an id without end",
      { verificationMethod: [multikey(`#${"x".repeat(3_000)}`)] },
      "verificationMethod[0].id",
      "2048 characters",
    ],
  ])("%s", (_, members, field, problem) => {
    expect(() => read(members)).toThrow(
      expect.objectContaining({
        code: "bad_peer",
        message: expect.stringContaining(problem),
        facts: expect.objectContaining({ field }),
      }),
    );
  });

  test.each([
    ["nothing", "", "empty"],
    ["what is not JSON", "{", "not JSON"],
    ["what is not UTF-8", Uint8Array.from([0x7b, 0xff, 0x7d]), "not UTF-8"],
    ["a list", "[]", "must be an object"],
    ["too many bytes", `{"id":"${DID}","x":"${"x".repeat(DID_DOCUMENT_LIMITS.bytes)}"}`, "the limit is 65536"],
    ["too many levels", `{"id":"${DID}","x":${"[".repeat(17)}${"]".repeat(17)}}`, "levels deep"],
    ["too many values", `{"id":"${DID}","x":[${"1,".repeat(5_000)}1]}`, "JSON values"],
    ["a member twice", `{"id":"did:web:other.example","id":"${DID}"}`, '"id" twice'],
    ["a member twice in another spelling", `{"id":"${DID}","x":[{"a":1,"b":{"a":2},"\\u0061":3}]}`, '"a" twice'],
  ])("%s", (_, body, problem) => {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    expect(() => readDidDocument(bytes, DID, NOW)).toThrow(
      expect.objectContaining({ code: "bad_peer", message: expect.stringContaining(problem) }),
    );
  });
});
