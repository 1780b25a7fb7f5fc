import { createHash, createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createIdentity, encodeMultikey, type Identity, keyFingerprint, type PublicKey } from "../../security/identity/index.js";
import { canonicalJson } from "../../security/json-canonical.js";
import { MessageSigner } from "../../security/signatures/index.js";
import { makeRequest } from "../../transport/request.js";
import { isSignedFor, readDidHeader, signedHash, writeDidHeader } from "./authentication/did-header.js";
import { SIGNATURES } from "./authentication/signatures.js";
import { bindingOf, didWbaUrl, stableSubject } from "./identity/did-wba.js";
import { wbaDocument } from "./identity/document.js";
import { addProof, checkProof } from "./identity/document-proof.js";
import { messageKeyOf } from "./identity/own-identity.js";

const known = JSON.parse(readFileSync(new URL("fixtures/known-answers.json", import.meta.url), "utf8"));

/** The identity of the vectors: its key is the SHA-256 of a text. */
function knownIdentity(): Identity {
  const seed = createHash("sha256").update(known.key.seedText).digest();
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "" } = privateKey.export({ format: "jwk" });
  const key: PublicKey = {
    id: `${known.did}#key-1`,
    kind: "Ed25519",
    bytes: Buffer.from(x, "base64url"),
    uses: ["authentication", "assertion"],
  };
  return {
    name: "known",
    did: known.did,
    keys: () => [key],
    sign: (_keyId, bytes) => sign(null, bytes, privateKey),
    agree: () => new Uint8Array(0),
  };
}
const identity = knownIdentity();
const [key] = identity.keys() as readonly [PublicKey];

describe("the known answers of the SDK", () => {
  test("the key, its multibase form and the fingerprint in the DID", () => {
    expect(createHash("sha256").update(known.key.seedText).digest("hex")).toBe(known.key.seedHex);
    expect(encodeMultikey(key)).toBe(known.key.multibase);
    expect(bindingOf(known.did)).toEqual({ kind: "e1", thumbprint: keyFingerprint(key) });
    expect(stableSubject(known.did)).toBe("did:wba:kat.example:agent:alpha");
    expect(didWbaUrl(known.did)).toBe(`https://kat.example/agent/alpha/${known.did.split(":").at(-1)}/did.json`);
    expect(didWbaUrl("did:wba:kat.example")).toBe("https://kat.example/.well-known/did.json");
    expect(didWbaUrl("did:wba:kat.example%3A8443")).toBe("https://kat.example:8443/.well-known/did.json");
    expect(didWbaUrl("did:wba:192.168.0.1")).toBeUndefined();
  });

  test("the DIDWba header", async () => {
    const { domain, nonce, timestamp, sha256Hex, signature } = known.header;
    expect(Buffer.from(signedHash({ did: known.did, nonce, timestamp }, domain, "1.1")).toString("hex")).toBe(sha256Hex);
    const header = await writeDidHeader(identity, { domain, version: "1.1", nonce, nowMs: Date.parse(timestamp) });
    expect(header).toBe(
      `DIDWba v="1.1", did="${known.did}", nonce="${nonce}", timestamp="${timestamp}", verification_method="key-1", signature="${signature}"`,
    );
    const read = readDidHeader(header);
    expect(read !== undefined && isSignedFor(read, key, domain)).toBe(true);
    expect(read !== undefined && isSignedFor(read, key, "other.example")).toBe(false);
  });

  test("the HTTP message signature, with its parameters in the order that the SDK rebuilds", async () => {
    const { method, url, body, created, nonce, contentDigest, signature } = known.request;
    const signer = new MessageSigner({
      profile: SIGNATURES,
      key: messageKeyOf(identity),
      now: () => created * 1_000,
      nonce: () => nonce,
    });
    const request = makeRequest({ method, url, body });
    expect(await signer.request(request, request.body)).toEqual({
      "content-digest": contentDigest,
      "signature-input": `sig1=("@method" "@target-uri" "@authority" "content-digest");created=${created};expires=${created + 300};nonce="${nonce}";keyid="${known.did}#key-1"`,
      signature,
    });
  });
});

describe("a header without a version", () => {
  test.each(["1.0", "1.1"] as const)("is read as %s if it was signed so", async (version) => {
    const header = await writeDidHeader(identity, { domain: "svc.example", version, nonce: "n", nowMs: 0 });
    const read = readDidHeader(header.replace(/v="1\.\d", /, ""));
    expect(read?.version).toBeUndefined();
    expect(read !== undefined && isSignedFor(read, key, "svc.example")).toBe(true);
  });
});

describe("a header of an elliptic curve key", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  const { x = "", y = "" } = privateKey.export({ format: "jwk" });
  const bytes = Buffer.concat([Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  const ec: PublicKey = { id: "did:wba:a.example#key-1", kind: "secp256k1", bytes, uses: ["authentication"] };

  /** As agent-connect signs: the hash of the hash, r and s without leading zeros. */
  function stripped(): { readonly signature: Buffer; readonly hash: Uint8Array; readonly nonce: string } {
    for (let at = 0; ; at++) {
      const nonce = `nonce-${at}`;
      const hash = signedHash({ did: "did:wba:a.example", nonce, timestamp: "2026-01-02T03:04:05Z" }, "svc.example", "1.0");
      const whole = sign("sha256", hash, { key: privateKey, dsaEncoding: "ieee-p1363" });
      const [r, s] = [whole.subarray(0, 32), whole.subarray(32)].map((each) => each.subarray(each.findIndex((byte) => byte > 0)));
      const short = Buffer.concat([r ?? whole, s ?? whole]);
      if (short.length < 64) return { signature: short, hash, nonce };
    }
  }

  test("verifies also if leading zeros are missing", () => {
    const { signature, nonce } = stripped();
    const header = readDidHeader(
      `DIDWba did="did:wba:a.example", nonce="${nonce}", timestamp="2026-01-02T03:04:05Z", verification_method="key-1", signature="${signature.toString("base64url")}"`,
    );
    expect(header !== undefined && isSignedFor(header, ec, "svc.example")).toBe(true);
  });
});

describe("the proof of a DID document", () => {
  test("has the bytes of the SDK: no context in the options, base64url", async () => {
    const document = await wbaDocument(identity, { services: [] }, 0);
    const { proof, ...rest } = document as { proof: { proofValue: string } };
    const { proofValue, ...options } = proof;
    const hash = (value: unknown): Buffer => createHash("sha256").update(canonicalJson(value)).digest();
    expect(proofValue).toMatch(/^[A-Za-z0-9_-]{86}$/);
    const expected = sign(null, Buffer.concat([hash(options), hash(rest)]), privateOf());
    expect(proofValue).toBe(expected.toString("base64url"));
    expect(() => checkProof(document, key)).not.toThrow();
  });

  test("is also read in the form of W3C, whose options have the document's context", async () => {
    const document = { "@context": ["https://www.w3.org/ns/did/v1"], id: known.did };
    const options = {
      type: "DataIntegrityProof",
      cryptosuite: "eddsa-jcs-2022",
      created: "2026-01-02T03:04:05Z",
      verificationMethod: key.id,
      proofPurpose: "assertionMethod",
    };
    const hash = (value: unknown): Buffer => createHash("sha256").update(canonicalJson(value)).digest();
    const signed = Buffer.concat([hash({ ...options, "@context": document["@context"] }), hash(document)]);
    const proofValue = encodeBase58(sign(null, signed, privateOf()));
    expect(() => checkProof({ ...document, proof: { ...options, proofValue: `z${proofValue}` } }, key)).not.toThrow();
  });

  test("is refused if the document or the key is another one", async () => {
    const document = await addProof({ id: known.did, service: [] }, identity, key, 0);
    expect(() => checkProof({ ...document, service: [{ id: "x" }] }, key)).toThrow("has a proof that is wrong");
    const other = createIdentity({ name: "other", did: known.did }).keys()[0] as PublicKey;
    expect(() => checkProof(document, other)).toThrow("has a proof that is wrong");
    expect(() => checkProof({ id: known.did }, key)).toThrow("has no proof");
  });
});

function privateOf() {
  const seed = createHash("sha256").update(known.key.seedText).digest();
  return createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
    format: "der",
    type: "pkcs8",
  });
}

/** An encoder of its own, so that the reader is not checked by itself. */
function encodeBase58(bytes: Uint8Array): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (; value > 0n; value /= 58n) text = alphabet[Number(value % 58n)] + text;
  return text;
}
