import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type SignatureAlgorithm, signBase, verifyBase } from "./algorithms.js";
import type { SignedMessage, SignedRequest, SignedResponse } from "./components.js";
import { checkContentDigest, contentDigest } from "./content-digest.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { readSignature } from "./read-signatures.js";
import { MessageSigner, signatureBase } from "./sign.js";
import { SignatureVerifier } from "./verify.js";

type Field = readonly [name: string, value: string];
interface Request {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  readonly body: string;
}
interface Response extends Pick<Request, "fields" | "body"> {
  readonly status: number;
}
interface Vectors {
  readonly keys: { readonly [kid: string]: JsonWebKey };
  readonly request: Request;
  readonly response: Response;
  readonly cases: readonly {
    readonly name: string;
    readonly of: "request" | "response";
    readonly alg: SignatureAlgorithm;
    readonly base: string;
    readonly signatureInput: string;
    readonly signature: string;
  }[];
  readonly proxy: { readonly base: string; readonly request: Request };
  readonly transformed: { readonly valid: readonly Request[]; readonly invalid: readonly Request[] };
  readonly requestResponse: { readonly request: Request; readonly response: Response; readonly base: string };
}

/** Extracted from the text of RFC 9421: appendix B, and the example of §2.4. Line wrapping of RFC 8792 is removed. */
const VECTORS: Vectors = JSON.parse(readFileSync(new URL("./fixtures/rfc9421.json", import.meta.url), "utf8"));
const ANY: SignatureProfile = { ...PLAIN_SIGNATURES, label: "any" };

function keyOf(kid: string): KeyObject {
  const jwk = VECTORS.keys[kid];
  if (jwk === undefined) throw new Error(`no key ${kid}`);
  return jwk.kty === "oct" ? createSecretKey(Buffer.from(jwk.k ?? "", "base64")) : createPublicKey({ key: jwk, format: "jwk" });
}

function fieldsOf(fields: readonly Field[]) {
  const headers: { [name: string]: string } = {};
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    headers[lower] = headers[lower] === undefined ? value : `${headers[lower]}, ${value}`;
  }
  return { headers, rawHeaders: fields.flat() };
}

function requestOf({ method, target, fields }: Request): SignedRequest {
  return { method, target, ...fieldsOf(fields) };
}

function responseOf({ status, fields }: Response): SignedResponse {
  return { status, ...fieldsOf(fields) };
}

/** The base that a receiver builds, and whether the signature is valid for it. */
function verified(message: SignedMessage, alg: SignatureAlgorithm) {
  const received = readSignature((message.response ?? message.request).headers, ANY);
  const base = signatureBase(received.components, message, received.text);
  const valid = verifyBase(alg, keyOf(received.keyid ?? ""), base, received.signature);
  return { base: Buffer.from(base).toString("latin1"), valid };
}

describe("RFC 9421 appendix B.2", () => {
  it("has six cases", () => {
    expect(VECTORS.cases.map(({ name }) => name)).toEqual(["B.2.1", "B.2.2", "B.2.3", "B.2.4", "B.2.5", "B.2.6"]);
  });

  it.each(VECTORS.cases)("$name verifies, with the base of the text", ({ of, alg, base, signatureInput, signature }) => {
    const added: readonly Field[] = [
      ["Signature-Input", signatureInput],
      ["Signature", signature],
    ];
    const plain = requestOf(VECTORS.request);
    const message: SignedMessage =
      of === "request"
        ? { request: requestOf({ ...VECTORS.request, fields: [...VECTORS.request.fields, ...added] }) }
        : {
            request: plain,
            response: responseOf({ ...VECTORS.response, fields: [...VECTORS.response.fields, ...added] }),
          };
    expect(verified(message, alg)).toEqual({ base, valid: true });
  });

  it("B.2.5 and B.2.6 are deterministic: signing gives the same bytes", () => {
    for (const { alg, base, signature } of VECTORS.cases.slice(4)) {
      const jwk = VECTORS.keys[alg === "ed25519" ? "test-key-ed25519" : "test-shared-secret"] ?? {};
      const key = alg === "ed25519" ? createPrivateKey({ key: jwk, format: "jwk" }) : keyOf("test-shared-secret");
      const made = Buffer.from(signBase(alg, key, Buffer.from(base, "latin1"))).toString("base64");
      expect(signature.endsWith(`=:${made}:`)).toBe(true);
    }
  });

  it("B.2.1 is refused: it covers nothing", () => {
    const { signatureInput, signature } = VECTORS.cases[0] ?? { signatureInput: "", signature: "" };
    const headers = { ...fieldsOf(VECTORS.request.fields).headers, "signature-input": signatureInput, signature };
    const verifier = new SignatureVerifier({ ...ANY, requiredParameters: [] });
    const message = { request: { ...requestOf(VECTORS.request), headers } };
    const keys = (kid: string) => ({ algorithm: "rsa-pss-sha512" as const, key: keyOf(kid) });
    const order = { message, kind: "request" as const, hasBody: true, nowMs: 1_618_884_473_000, keys };
    expect(() => verifier.verify(order)).toThrow('does not cover "@method"');
  });

  it("states the digests of the examples", () => {
    const { fields, body } = VECTORS.request;
    const digest = fieldsOf(fields).headers["content-digest"] ?? "";
    checkContentDigest(digest, Buffer.from(body));
    expect(contentDigest(body, "sha-512")).toBe(digest);
    expect(() => checkContentDigest(digest, Buffer.from(`${body} `))).toThrow("sha-512");
  });
});

describe("RFC 9421 appendix B.3, B.4 and §2.4", () => {
  it("verifies what a proxy signed", () => {
    const { request, base } = VECTORS.proxy;
    expect(verified({ request: requestOf(request) }, "ecdsa-p256-sha256")).toEqual({ base, valid: true });
  });

  it.each(VECTORS.transformed.valid.map((request, index) => ({ request, index })))(
    "accepts transformation $index",
    ({ request }) => {
      expect(verified({ request: requestOf(request) }, "ed25519").valid).toBe(true);
    },
  );

  it.each(VECTORS.transformed.invalid.map((request, index) => ({ request, index })))(
    "refuses transformation $index",
    ({ request }) => {
      expect(verified({ request: requestOf(request) }, "ed25519").valid).toBe(false);
    },
  );

  it("verifies a response that is bound to its request", () => {
    const { request, response, base } = VECTORS.requestResponse;
    const message = { request: requestOf(request), response: responseOf(response) };
    expect(verified(message, "ecdsa-p256-sha256")).toEqual({ base, valid: true });
    const other = { ...message, request: requestOf({ ...request, target: "https://example.com/other" }) };
    expect(verified(other, "ecdsa-p256-sha256").valid).toBe(false);
  });
});

describe("the published vector of another implementation", () => {
  /** A deterministic vector of the Python package `anp` 1.0.7: seed, created, nonce and result as its documentation states them. */
  it("is reproduced by a profile with its component and parameter order", async () => {
    const seed = Buffer.from("c73d3bcafd8df1489a93fe4a54bea1ad13eab53ac7d9f587cdb4ff085e422f33", "hex");
    const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
    const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    const keyId = "did:wba:kat.example:agent:alpha:e1_Stob3FkxMTLKJ-JGx25X-dMJaA6yAQ4xepB8Kstsq04#key-1";
    const profile: SignatureProfile = {
      ...PLAIN_SIGNATURES,
      request: { sign: ["@method", "@target-uri", "@authority", { component: "content-digest", when: "body" }] },
    };
    const signer = new MessageSigner({
      profile,
      key: { keyId, algorithm: "ed25519", sign: (base) => signBase("ed25519", key, base) },
      now: () => 1_767_323_045_000,
      nonce: () => "kat-nonce-1",
    });
    const body = Buffer.from('{"hello":"world"}');
    const fields = await signer.request({ method: "POST", target: "https://svc.example/rpc", headers: {} }, body);
    expect(fields).toEqual({
      "content-digest": "sha-256=:k6I5cakU5erL8KjSUVTNownDwccvu5kU1Hxg88toFYg=:",
      "signature-input": `sig1=("@method" "@target-uri" "@authority" "content-digest");created=1767323045;expires=1767323345;nonce="kat-nonce-1";keyid="${keyId}"`,
      signature: "sig1=:tdTj6wSd8Q7jh24t0z2VuYgzR9C0wNNnVHbIwg65OzJN/GDMuK7DR8zrg/qaZmqwDMt6a6LckXXbGmMXWT60BA==:",
    });
  });
});
