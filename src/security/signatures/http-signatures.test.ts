import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type Admitted, AgentError } from "../../envelope/index.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import { makeRequest } from "../../transport/request.js";
import { signRequest } from "../../transport/sign.js";
import { type AdmissionFacts, admittedOf, needsBody } from "../admission.js";
import { createResolver } from "../identity/index.js";
import { createReplayGuard } from "../replay/index.js";
import type { SignatureAlgorithm } from "./algorithms.js";
import { httpSignatures } from "./http-signatures.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { requestSignatures } from "./request-signatures.js";

const URL = "https://agent.example/a2a?tenant=7";
const START = Date.parse("2026-03-01T12:00:00Z");
const SECRET = Buffer.alloc(32, 7);
const ED25519 = pair("ed25519");
const OTHER = pair("ed25519");

function pair(type: "ed25519"): { readonly private: string; readonly public: string } {
  const { privateKey, publicKey } = generateKeyPairSync(type);
  return {
    private: String(privateKey.export({ format: "pem", type: "pkcs8" })),
    public: String(publicKey.export({ format: "pem", type: "spki" })),
  };
}

let nowMs = START;
let facts: AdmissionFacts;
beforeEach(() => {
  nowMs = START;
  facts = {
    target: URL,
    resolver: createResolver(),
    now: () => nowMs,
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: () => nowMs, knownSinceMs: 0 }),
  };
});

interface Change {
  readonly method?: string;
  readonly url?: string;
  readonly body?: string;
  readonly headers?: { readonly [name: string]: string | undefined };
}

/** A request as it is received: signed, then changed by somebody on the way. */
async function received(profile: SignatureProfile = PLAIN_SIGNATURES, change: Change = {}, body = '{"text":"hello"}') {
  const signer = requestSignatures({ keyId: "ann-1", key: ED25519.private, profile, now: () => nowMs });
  const request = makeRequest({ method: "POST", url: URL, headers: { "content-type": "application/json" }, body, signer });
  const signed = await signRequest(request);
  return makeRequest({
    method: change.method ?? "POST",
    url: change.url ?? URL,
    headers: { "content-length": String(body.length), ...signed.headers, ...change.headers },
    body: change.body ?? body,
  });
}

const KEYS = new Map([["ann-1", { key: ED25519.public, caller: "ann" }]]);

async function admit(request: ReturnType<typeof makeRequest>, options: Partial<Parameters<typeof httpSignatures>[0]> = {}) {
  const decision = await httpSignatures({ keys: KEYS, ...options })(request, facts);
  if (!needsBody(decision)) throw new Error("decided by the head alone");
  return admittedOf(await decision.complete(request.body));
}

/** The name of the refusal. */
async function problemOf(admitted: Promise<Admitted>): Promise<string> {
  const error = await admitted.then(
    () => undefined,
    (thrown: unknown) => AgentError.from(thrown),
  );
  expect(error?.code).toBe("unauthenticated");
  expect(error?.facts.head?.["accept-signature"]).toContain('"@method" "@target-uri"');
  return String(error?.facts.detail?.["signature"]);
}

/** The received request with another Signature-Input. */
async function withInput(edit: (input: string) => string) {
  const request = await received();
  return received(undefined, {
    headers: { ...request.headers, "signature-input": edit(request.headers["signature-input"] ?? "") },
  });
}

describe("httpSignatures()", () => {
  it("admits the caller of the key, with a name of its own", async () => {
    expect(await admit(await received())).toEqual({
      principal: { id: "ann", scheme: "signature", scopes: [], owner: "signature:ann" },
      proved: undefined,
    });
  });

  it("admits a request without a body", async () => {
    expect((await admit(await received(undefined, {}, ""))).principal.id).toBe("ann");
  });

  it("is described for cards, and claims requests with a signature only", async () => {
    const admission = httpSignatures({ keys: KEYS });
    expect(admission.security?.anyOf).toEqual([{ httpSignature: [] }]);
    expect(admission.claims?.(await received())).toBe(true);
    expect(admission.claims?.(makeRequest({ method: "GET", url: URL }))).toBe(false);
    expect(admission.open).toBe(false);
  });

  it("accepts a signature once, also if two arrive at the same time", async () => {
    const request = await received();
    const results = await Promise.allSettled([admit(request), admit(request)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await problemOf(admit(request))).toBe("replayed");
  });

  it("refuses a seen signature before the body is read", async () => {
    const request = await received();
    await admit(request);
    expect(() => httpSignatures({ keys: KEYS })(request, facts)).toThrow("used before");
  });

  it("does not use up a nonce for a body that does not match", async () => {
    const request = await received();
    expect(await problemOf(admit(await received(undefined, { headers: request.headers, body: '{"text":"hellO"}' })))).toBe(
      "digest_mismatch",
    );
    expect((await admit(request)).principal.id).toBe("ann");
  });

  it.each<[string, string, Change]>([
    ["another method", "wrong", { method: "PUT" }],
    ["another content type", "wrong", { headers: { "content-type": "text/plain" } }],
    ["another body", "digest_mismatch", { body: '{"text":"hellO"}' }],
    ["another digest", "wrong", { headers: { "content-digest": "sha-256=:AAAA:" } }],
    ["no digest", "coverage-absent", { headers: { "content-digest": undefined } }],
    ["no signature", "missing", { headers: { signature: undefined } }],
    ["no input", "missing", { headers: { "signature-input": undefined } }],
    ["another label in Signature", "missing", { headers: { signature: "other=:AAAA:" } }],
    ["a text as signature", "malformed", { headers: { signature: 'sig1="AAAA"' } }],
    ["no dictionary", "malformed", { headers: { signature: "sig1=:not base64:" } }],
  ])("refuses %s", async (_, problem, change) => {
    const expected = problem === "coverage-absent" ? "absent_component" : problem;
    expect(await problemOf(admit(await received(undefined, change)))).toBe(expected);
  });

  it("takes the target from the public address, not from the request", async () => {
    const request = await received();
    facts = { ...facts, target: "https://other.example/a2a?tenant=7" };
    expect(await problemOf(admit(request))).toBe("wrong");
    facts = { ...facts, target: "https://agent.example/a2a?tenant=8" };
    expect(await problemOf(admit(request))).toBe("wrong");
  });

  it.each<[string, string, (input: string) => string]>([
    ["a duplicate label", "duplicate_label", (input) => `${input}, ${input}`],
    ["a second signature", "ambiguous", (input) => `${input}, sig2=("@method")`],
    ["a duplicate component", "duplicate_component", (input) => input.replace('"@method"', '"@method" "@method"')],
    ["an unknown component", "unknown_component", (input) => input.replace('"@method"', '"@method" "@everything"')],
    ["a field in upper case", "unknown_component", (input) => input.replace('"@method"', '"@method" "Date"')],
    ["an unknown parameter of a component", "unknown_component", (input) => input.replace('"@method"', '"@method";x')],
    ["a component of the request's request", "unknown_component", (input) => input.replace('"@method"', '"@method" "@path";req')],
    ["a status", "absent_component", (input) => input.replace('"@method"', '"@method" "@status"')],
    ["a field that is not there", "absent_component", (input) => input.replace('"@method"', '"@method" "x-none"')],
    ["the method alone", "coverage", (input) => input.replace(/\(.*\)/, '("@method")')],
    ["a digest that is not covered", "coverage", (input) => input.replace(' "content-digest"', "")],
    ["no nonce", "missing_parameter", (input) => input.replace(/;nonce="[^"]*"/, "")],
    ["no keyid", "missing_parameter", (input) => input.replace(/;keyid="[^"]*"/, "")],
    ["no expiry", "missing_parameter", (input) => input.replace(/;expires=\d+/, "")],
    ["a negative date", "bad_time", (input) => input.replace(/created=\d+/, "created=-1")],
    ["a date with a fraction", "bad_time", (input) => input.replace(/created=\d+/, "created=1.5")],
    ["a date as text", "bad_time", (input) => input.replace(/created=\d+/, 'created="1"')],
    ["a date in the far future", "bad_time", (input) => input.replace(/expires=\d+/, "expires=999999999999999")],
    ["a date with too many digits", "malformed", (input) => input.replace(/expires=\d+/, "expires=9999999999999999")],
    ["an expiry before the creation", "bad_time", (input) => input.replace(/expires=\d+/, "expires=5")],
    ["an unknown key", "unknown_key", (input) => input.replace("ann-1", "bob-1")],
    ["another algorithm", "algorithm", (input) => `${input};alg="hmac-sha256"`],
    ["a parameter that was not signed", "wrong", (input) => `${input};tag="x"`],
    ["a repeated parameter", "duplicate_label", (input) => `${input};keyid="ann-1"`],
    ["a nonce that is too long", "too_large", (input) => input.replace(/nonce="[^"]*"/, `nonce="${"n".repeat(257)}"`)],
    ["a key id that is too long", "too_large", (input) => input.replace("ann-1", "a".repeat(513))],
    ["a field that is too long", "too_large", (input) => `${input};x="${"y".repeat(8_192)}"`],
    ["too many signatures", "too_large", (input) => `${input}${Array.from({ length: 8 }, (_, i) => `, s${i}=()`).join("")}`],
    ["too many components", "too_large", (i) => i.replace("(", `(${Array.from({ length: 65 }, (_, n) => `"x${n}"`).join(" ")} `)],
    ["an item as input", "malformed", () => "sig1=5"],
    ["a comma at the end", "malformed", (input) => `${input},`],
    ["no list", "malformed", () => "sig1=("],
  ])("refuses %s", async (_, problem, edit) => {
    expect(await problemOf(admit(await withInput(edit)))).toBe(problem);
  });

  it("keeps to time, with thirty seconds of skew on both sides", async () => {
    const request = await received();
    nowMs = START - 30_001;
    expect(await problemOf(admit(request))).toBe("not_yet_valid");
    nowMs = START + 330_000;
    expect(await problemOf(admit(request))).toBe("expired");
    nowMs = START + 329_999;
    expect((await admit(request)).principal.id).toBe("ann");
  });

  it("refuses a signature by another key of the same name", async () => {
    const keys = new Map([["ann-1", { key: OTHER.public }]]);
    expect(await problemOf(admit(await received(), { keys }))).toBe("wrong");
  });

  it("refuses the public key as a shared secret", async () => {
    const forged = requestSignatures({ keyId: "ann-1", key: Buffer.from(ED25519.public), now: () => nowMs });
    const request = await signRequest(makeRequest({ method: "POST", url: URL, body: "{}", signer: forged }));
    expect(await problemOf(admit(request))).toBe("wrong");
  });

  it("accepts each algorithm that it lists, and no other", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const made: readonly (readonly [SignatureAlgorithm, ReturnType<typeof generateKeyPairSync> | undefined])[] = [
      ["ecdsa-p256-sha256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
      ["ecdsa-p384-sha384", generateKeyPairSync("ec", { namedCurve: "P-384" })],
      ["es256k", generateKeyPairSync("ec", { namedCurve: "secp256k1" })],
      ["rsa-pss-sha512", rsa],
      ["rsa-v1_5-sha256", rsa],
      ["hmac-sha256", undefined],
    ];
    for (const [algorithm, own] of made) {
      const key = own === undefined ? SECRET : String(own.privateKey.export({ format: "pem", type: "pkcs8" }));
      const signer = requestSignatures({ keyId: "k", key, algorithm, now: () => nowMs });
      const request = await signRequest(makeRequest({ method: "POST", url: URL, body: "{}", signer }));
      const admitted = admit(request, { keys: new Map([["k", { key, algorithm }]]) });
      if (algorithm === "rsa-v1_5-sha256") expect(await problemOf(admitted)).toBe("algorithm");
      else expect((await admitted).principal.id).toBe("k");
    }
  });

  it("waits for a key that is looked up, and reports that it cannot be", async () => {
    const request = await received();
    const down = new AgentError("unavailable", "the directory is down");
    await expect(admit(request, { keys: () => Promise.reject(down) })).rejects.toBe(down);
    expect(await problemOf(admit(request, { keys: async () => undefined }))).toBe("unknown_key");
  });

  it("refuses what may have been accepted before the start", async () => {
    facts = { ...facts, replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: () => nowMs }) };
    nowMs += 29_000;
    await expect(admit(await received())).rejects.toMatchObject({ code: "unavailable", facts: { retryAfterMs: 1_000 } });
    nowMs += 1_000;
    expect((await admit(await received())).principal.id).toBe("ann");
  });

  it("refuses weak keys and wrong kinds when it is configured", () => {
    const of = (key: string | Uint8Array, algorithm?: SignatureAlgorithm) => () =>
      httpSignatures({ keys: new Map([["k", algorithm === undefined ? { key } : { key, algorithm }]]) });
    expect(of(Buffer.alloc(31))).toThrow("at least 32 bytes");
    expect(of(ED25519.public, "hmac-sha256")).toThrow("key of kind secret, not ed25519");
    expect(of("nonsense")).toThrow("not a public key");
    expect(() => httpSignatures({ keys: new Map() })).toThrow("no key is configured");
  });

  it("shows no key of a signer", () => {
    const signer = requestSignatures({ keyId: "ann-1", key: ED25519.private });
    expect(JSON.stringify(signer)).toBe('{"keyId":"ann-1"}');
  });
});
