import { beforeEach, describe, expect, test } from "vitest";
import { AgentError, CancelSource } from "../../envelope/index.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import { changeRequest, makeRequest } from "../../transport/request.js";
import type { AdmissionFacts } from "../admission.js";
import { needsBody } from "../admission.js";
import { createIdentity, createResolver, type Identity, type KeyKind, type Resolver } from "../identity/index.js";
import { createReplayGuard } from "../replay/index.js";
import { didSignatures, identitySigner } from "./did-signatures.js";
import { PLAIN_SIGNATURES } from "./profile.js";
import { MessageSigner } from "./sign.js";

const URL = "https://agent.example/a2a";
const NOW = Date.parse("2026-11-17T08:00:00Z");
let facts: AdmissionFacts;
const withResolver = (resolver: Resolver): AdmissionFacts => ({
  target: URL,
  resolver,
  replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: () => NOW, knownSinceMs: 0 }),
  now: () => NOW,
});
beforeEach(() => {
  facts = withResolver(createResolver());
});

const identityOf = (kind: KeyKind = "Ed25519"): Identity => createIdentity({ name: "ann", did: "key", kinds: [kind] });

async function signed(identity: Identity, body = "{}") {
  const request = makeRequest({ method: "POST", url: URL, headers: { "content-type": "application/json" }, body });
  const headers = { ...request.headers, "content-length": String(body.length) };
  const plain = changeRequest(request, { headers });
  const fields = await identitySigner(identity, () => NOW).sign(plain);
  return changeRequest(plain, { headers: { ...headers, ...fields } });
}

async function admit(admission: ReturnType<typeof didSignatures>, identity: Identity) {
  const request = await signed(identity);
  const decision = await admission(request, facts);
  return needsBody(decision) ? decision.complete(request.body) : decision;
}

describe("didSignatures()", () => {
  test.each(["Ed25519", "P-256", "secp256k1"] as const)("admits a caller by the %s key of its DID", async (kind) => {
    const identity = identityOf(kind);
    expect(await admit(didSignatures({ dids: [identity.did] }), identity)).toMatchObject({
      principal: { id: identity.did, scheme: "did", owner: `did:${identity.did}` },
      proved: { identity: true, signed: true },
    });
  });

  test("admits any DID if so configured, and refuses an empty list", async () => {
    const identity = identityOf();
    expect(await admit(didSignatures({ dids: "any" }), identity)).toMatchObject({ principal: { id: identity.did } });
    expect(() => didSignatures({ dids: [] })).toThrow("no DID is configured");
  });

  test("admits a peer that proved a listed DID inside a protocol, and no other", async () => {
    const { identify } = didSignatures({ dids: ["did:web:one.example"] });
    const peer = (did: string) => ({ did, keyId: `${did}#key-1` });
    expect(identify?.(peer("did:web:one.example"))).toMatchObject({ principal: { id: "did:web:one.example", scheme: "did" } });
    expect(() => identify?.(peer("did:web:two.example"))).toThrow("did:web:two.example is not admitted here");
  });

  test("checks the signatures of a protocol by its own profile", async () => {
    const identity = identityOf();
    const admission = didSignatures({ dids: "any" });
    const plain = makeRequest({
      method: "POST",
      url: URL,
      headers: { "content-type": "text/plain", "content-length": "2" },
      body: "hi",
    });
    const narrow = {
      ...PLAIN_SIGNATURES,
      request: { sign: ["@method", "@target-uri", { component: "content-digest", when: "body" as const }] },
    };
    const [key] = identity.keys();
    const own = {
      keyId: key?.id ?? "",
      algorithm: "ed25519" as const,
      sign: (base: Uint8Array) => identity.sign(key?.id ?? "", base),
    };
    const fields = await new MessageSigner({ profile: narrow, key: own, now: () => NOW }).request(plain, plain.body);
    const request = changeRequest(plain, { headers: { ...plain.headers, ...fields } });
    await expect(async () => admission(request, facts)).rejects.toMatchObject({ code: "unauthenticated" });
    const decision = await admission(request, { ...facts, signatures: narrow });
    expect(needsBody(decision) && (await decision.complete(request.body))).toMatchObject({ principal: { id: identity.did } });
  });

  test("resolves nothing for a DID that is not listed", async () => {
    let asked = 0;
    facts = withResolver({ resolve: async () => Promise.reject(new Error(`asked ${++asked}`)), forget: () => undefined });
    await expect(admit(didSignatures({ dids: ["did:web:other.example"] }), identityOf())).rejects.toMatchObject({
      code: "unauthenticated",
    });
    expect(asked).toBe(0);
  });

  test("refuses a key that the document lists for other uses, and a deactivated DID", async () => {
    const identity = identityOf();
    const { document } = await createResolver().resolve(identity.did, new CancelSource());
    for (const keys of [document.keys.map((key) => ({ ...key, uses: ["assertion" as const] })), []]) {
      facts = withResolver({
        resolve: async () => ({ document: { ...document, keys }, observedAt: NOW }),
        forget: () => undefined,
      });
      await expect(admit(didSignatures({ dids: "any" }), identity)).rejects.toMatchObject({ code: "unauthenticated" });
    }
  });

  test.each([
    ["not_found", "unauthenticated"],
    ["bad_peer", "unauthenticated"],
    ["unavailable", "unavailable"],
  ] as const)("a DID whose resolution ends with %s is refused with %s", async (code, refused) => {
    facts = withResolver({ resolve: () => Promise.reject(new AgentError(code, "no")), forget: () => undefined });
    await expect(admit(didSignatures({ dids: "any" }), identityOf())).rejects.toMatchObject({ code: refused });
  });

  test("refuses the same request twice", async () => {
    const identity = identityOf();
    const admission = didSignatures({ dids: "any" });
    const request = await signed(identity);
    const again = async () => {
      const decision = await admission(request, facts);
      return needsBody(decision) ? decision.complete(request.body) : decision;
    };
    await again();
    await expect(again()).rejects.toMatchObject({ code: "unauthenticated", facts: { detail: { signature: "replayed" } } });
  });
});

test("identitySigner() refuses an identity without a valid signing key", () => {
  const identity = createIdentity({ name: "ann", did: "did:web:a.example" }).revoked("did:web:a.example#key-1");
  expect(() => identitySigner(identity)).toThrow("has no valid key that signs");
});
