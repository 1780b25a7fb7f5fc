import { type AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from "@a2a-js/sdk";
import { flattenedVerify, importJWK, type JWK } from "jose";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../envelope/index.js";
import { cardSignatures, cardSigner, signCard } from "./card-signature.js";
import { type CardTrust, createCardCheck, describeCardSignature } from "./card-signature-check.js";
import { canonicalJson } from "./json-canonical.js";
import { newCardKey, SIGNING_ALGORITHMS } from "./signing-key.js";

/** A card with everything in it that some reader drops: an empty list of scopes, a false flag, characters beyond ASCII. */
const CARD: JsonObject = {
  name: "Büro",
  description: "Answers € questions 😀",
  version: "1.0.0",
  supportedInterfaces: [{ url: "https://agent.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  provider: { url: "https://acme.example", organization: "Acme" },
  capabilities: { streaming: true, pushNotifications: false, extensions: [{ uri: "urn:x", params: { n: 1.5, deep: [1, 2] } }] },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "ask", name: "Ask", description: "Answers", tags: ["general"], examples: ["why?"] }],
};
const KEYS = Object.fromEntries(SIGNING_ALGORITHMS.map((algorithm) => [algorithm, newCardKey(algorithm)]));
const EDDSA = newCardKey("EdDSA", "acme-1");
const SIGNER = cardSigner({ key: EDDSA.privateJwk });
const TRUST: CardTrust = { keys: [{ name: "acme", key: EDDSA.publicJwk }] };

const bytes = (document: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(document));
const signed = (document: JsonObject): JsonObject => ({ ...document, signatures: signCard(document, SIGNER) });
const headerOf = (document: JsonObject): JsonObject => {
  const [first] = document["signatures"] as readonly JsonObject[];
  return JSON.parse(Buffer.from(String(first?.["protected"]), "base64url").toString()) as JsonObject;
};

// The official SDK tells the console of every signature that does not fit.
const debug = vi.spyOn(console, "debug").mockReturnValue(undefined);
afterAll(() => debug.mockRestore());

describe("signing", () => {
  it.each(SIGNING_ALGORITHMS)("with %s is verified by jose and the official SDK", async (algorithm) => {
    const key = KEYS[algorithm];
    if (key === undefined) throw new Error("no key");
    const signer = cardSigner({ key: key.privatePem, kid: "k1", algorithm });
    const signatures = signCard(CARD, signer);
    const publicKey = await importJWK(key.publicJwk as JWK, algorithm);
    const payload = Buffer.from(canonicalJson(CARD)).toString("base64url");
    const [first] = signatures;
    const { protectedHeader } = await flattenedVerify({ protected: "", signature: "", ...first, payload }, publicKey);
    expect(protectedHeader).toEqual({ alg: algorithm, kid: "k1", typ: "JOSE" });
    const verify = verifyAgentCardSignature(async () => key.publicJwk as JWK);
    await verify({ ...CARD, signatures } as unknown as AgentCard);
    await expect(verify({ ...CARD, name: "Buro", signatures } as unknown as AgentCard)).rejects.toThrow("No valid signatures");
  });

  it("needs one signature without empty members, and two where readers differ about them", () => {
    const { securityRequirements: _, ...full } = CARD;
    expect(signCard(full, SIGNER)).toHaveLength(1);
    expect(signCard(CARD, SIGNER)).toHaveLength(2);
  });

  it("names the key by option, JWK or thumbprint, and the address of its key set", () => {
    expect(headerOf({ signatures: signCard(CARD, SIGNER) })).toMatchObject({ kid: "acme-1" });
    const { kid: _, ...nameless } = EDDSA.privateJwk;
    expect(cardSigner({ key: nameless }).kid).toMatch(/^[\w-]{43}$/);
    const told = cardSigner({ key: EDDSA.privateJwk, kid: "other", jku: "https://acme.example/keys" });
    expect(headerOf({ signatures: signCard(CARD, told) })).toEqual({
      alg: "EdDSA",
      kid: "other",
      typ: "JOSE",
      jku: "https://acme.example/keys",
    });
    expect(told.publicJwk).toMatchObject({ kty: "OKP", kid: "other", use: "sig" });
    expect(told.publicJwk).not.toHaveProperty("d");
    expect(() => cardSigner({ key: EDDSA.privateJwk, algorithm: "ES256" })).toThrow("signs with EdDSA, not with ES256");
  });

  it.each([
    ["description", { ...CARD, description: "" }],
    ["skills", { ...CARD, skills: [] }],
    ["capabilities", { ...CARD, capabilities: { extensions: [] } }],
    ["skills[0].tags", { ...CARD, skills: [{ id: "a", name: "a", description: "a", tags: [] }] }],
    ["provider.url", { ...CARD, provider: { url: "", organization: "Acme" } }],
    ["supportedInterfaces[0].url", { ...CARD, supportedInterfaces: [{ url: "", protocolBinding: "GRPC" }] }],
  ])("rejects a card whose %s is empty", (field, document: JsonObject) => {
    expect(() => signCard(document, SIGNER)).toThrow(`${field} is empty`);
  });

  it("signs the same document once", () => {
    let made = 0;
    const counting = {
      ...SIGNER,
      sign(payload: string) {
        made++;
        return SIGNER.sign(payload);
      },
    };
    const signatures = cardSignatures([counting]);
    const first = signatures(CARD);
    expect(signatures({ ...CARD })).toBe(first);
    expect(made).toBe(first.length);
    expect(signatures({ ...CARD, version: "2" })).not.toEqual(first);
    expect(cardSignatures([])({ description: "" })).toEqual([]);
    expect(() => cardSignatures(Array(9).fill(SIGNER))).toThrow("at most 8 keys");
  });
});

describe("checking", () => {
  const check = createCardCheck(TRUST);

  it("distinguishes unsigned, signed by an unknown key, and signed by a trusted key", async () => {
    expect(await check(undefined)).toEqual({ result: "unsigned" });
    expect(await check(bytes(CARD))).toEqual({ result: "unsigned" });
    expect(await check(bytes({ ...CARD, signatures: [] }))).toEqual({ result: "unsigned" });
    expect(await check(bytes(signed(CARD)))).toEqual({ result: "verified", by: "acme" });
    expect(await createCardCheck()(bytes(signed(CARD)))).toMatchObject({ result: "unknown", kids: ["acme-1", "acme-1"] });
    const stranger = cardSigner({ key: newCardKey("EdDSA").privatePem });
    expect(await check(bytes({ ...CARD, signatures: signCard(CARD, stranger) }))).toMatchObject({ result: "unknown" });
  });

  it("verifies signatures of the official SDK", async () => {
    const { securityRequirements: _, ...plain } = CARD;
    const good = { result: "verified", by: "acme" };
    const withEmpty = { ...plain, iconUrl: "", documentationUrl: "" };
    // It signs what is left without empty members, so that what these name is not signed.
    for (const [document, verdict] of [
      [CARD, { ...good, partly: true }],
      [plain, good],
      [withEmpty, { ...good, partly: true }],
    ] as const) {
      const sign = generateAgentCardSignature(EDDSA.privateJwk as JWK, { alg: "EdDSA", kid: "acme-1", typ: "JOSE" });
      const card = await sign(document as unknown as AgentCard);
      expect(await check(bytes(card))).toEqual(verdict);
    }
  });

  it("reports when empty members are not covered by the signature", async () => {
    const changed = { ...signed(CARD), securityRequirements: [{ schemes: { other: { list: [] } } }] };
    const verdict = await check(bytes(changed));
    expect(verdict).toEqual({ result: "verified", by: "acme", partly: true });
    expect(describeCardSignature(verdict)).toContain("not covered");
    const scoped = { ...signed(CARD), securityRequirements: [{ schemes: { other: { list: ["all"] } } }] };
    await expect(check(bytes(scoped))).rejects.toMatchObject({ code: "bad_signature" });
  });

  it("does not mind another order, white space or spelling", async () => {
    const document = signed(CARD);
    const turned = Object.fromEntries(Object.entries(document).reverse());
    expect(await check(bytes(turned))).toMatchObject({ result: "verified" });
    const spread = JSON.stringify(document, undefined, "\t\r\n ").replaceAll("A", String.raw`\u0041`).replace("1.5", "15e-1");
    expect(JSON.parse(spread)).toEqual(document);
    expect(await check(new TextEncoder().encode(spread))).toMatchObject({ result: "verified" });
  });

  it("refuses the card when one character of any name or value is another", async () => {
    const { securityRequirements: _, ...full } = CARD;
    const { signatures } = signed(full);
    let changed = 0;
    for (const mutant of mutants(full)) {
      const altered = bytes({ ...(mutant as JsonObject), signatures });
      await expect(check(altered), JSON.stringify(mutant)).rejects.toMatchObject({ code: "bad_signature" });
      changed++;
    }
    // 22 values, and the names of the members they stand in.
    expect(changed).toBe(22 + 30);
    await expect(check(bytes({ ...signed(CARD), url: "https://evil.example" }))).rejects.toThrow(
      "does not match the signature of acme",
    );
  });

  it("finds the good signature among others, and the new key beside the old", async () => {
    const next = newCardKey("ES256", "acme-2");
    const document = {
      ...CARD,
      signatures: [...signCard(CARD, cardSigner({ key: next.privateJwk })), ...signCard(CARD, SIGNER)],
    };
    expect(await check(bytes(document))).toMatchObject({ result: "verified", by: "acme" });
    const later = createCardCheck({ keys: [{ name: "acme anew", key: next.publicJwk }] });
    expect(await later(bytes(document))).toMatchObject({ result: "verified", by: "acme anew" });
  });

  it("tries a key without a name on every signature, and ignores a mismatch", async () => {
    const { kid: _, ...nameless } = EDDSA.publicJwk;
    const open = createCardCheck({ keys: [{ name: "acme", key: nameless }] });
    expect(await open(bytes(signed(CARD)))).toMatchObject({ result: "verified" });
    expect(await open(bytes({ ...signed(CARD), name: "other" }))).toMatchObject({ result: "unknown" });
    const named = createCardCheck({ keys: [{ name: "acme", key: nameless, kid: "acme-1" }] });
    await expect(named(bytes({ ...signed(CARD), name: "other" }))).rejects.toMatchObject({ code: "bad_signature" });
  });

  it("does not use a key for another kid", async () => {
    const renamed = cardSigner({ key: EDDSA.privateJwk, kid: "acme-9" });
    const document = { ...CARD, signatures: signCard(CARD, renamed) };
    expect(await check(bytes(document))).toEqual({ result: "unknown", kids: ["acme-9", "acme-9"], problem: undefined });
  });

  it("refuses a signed card with a member twice", async () => {
    const text = JSON.stringify(signed(CARD)).replace(/^\{/, '{"name":"Evil",');
    expect((JSON.parse(text) as JsonObject)["name"]).toBe("Büro");
    await expect(check(new TextEncoder().encode(text))).rejects.toThrow("has a duplicate member");
  });

  it.each([
    ["no algorithm at all", { alg: "none" }, "", "EdDSA only"],
    ["another algorithm than its key's", { alg: "HS256" }, "AAAA", "EdDSA only"],
    ["something critical", { alg: "EdDSA", crit: ["exp"], exp: 1 }, undefined, "requires an unsupported extension"],
    ["an unencoded payload", { alg: "EdDSA", b64: false }, undefined, "requires an unsupported extension"],
  ])("refuses a signature with %s", async (_, header, signature, because) => {
    const encoded = Buffer.from(JSON.stringify({ kid: "acme-1", typ: "JOSE", ...header })).toString("base64url");
    const real = signCard(CARD, SIGNER)[0]?.signature;
    const document = { ...CARD, signatures: [{ protected: encoded, signature: signature ?? real }] };
    await expect(check(bytes(document))).rejects.toThrow(because);
  });

  it("pins the algorithm of a key that could do several", async () => {
    const key = KEYS["RS256"];
    if (key === undefined) throw new Error("no key");
    const document = {
      ...CARD,
      signatures: signCard(CARD, cardSigner({ key: key.privatePem, kid: "rsa", algorithm: "PS256" })),
    };
    const { alg: _, ...anyUse } = key.publicJwk;
    const either = createCardCheck({ keys: [{ name: "acme", key: anyUse, kid: "rsa" }] });
    expect(await either(bytes(document))).toMatchObject({ result: "verified" });
    const pinned = createCardCheck({ keys: [{ name: "acme", key: anyUse, kid: "rsa", algorithms: ["RS256"] }] });
    await expect(pinned(bytes(document))).rejects.toThrow("RS256 only");
    expect(() => createCardCheck({ keys: [{ name: "acme", key: anyUse, algorithms: ["EdDSA"] }] })).toThrow(
      "does not fit its configured algorithms",
    );
  });

  it("ignores the unprotected header and tolerates malformed signatures", async () => {
    const [real] = signCard(CARD, SIGNER);
    const beside = { ...CARD, signatures: [{ ...real, header: { alg: "none", kid: "other" } }] };
    expect(await check(bytes(beside))).toMatchObject({ result: "verified" });
    for (const rubbish of [null, 1, "x", {}, { protected: 1 }, { protected: "!", signature: [] }, { protected: "bnVsbA" }])
      expect(await check(bytes({ ...CARD, signatures: [rubbish] }))).toMatchObject({ result: "unknown", kids: [] });
    await expect(check(bytes({ ...CARD, signatures: Array(17).fill(real) }))).rejects.toThrow("more than 16 signatures");
    await expect(check(new TextEncoder().encode(JSON.stringify({ ...signed(CARD), name: "\ud800" })))).rejects.toThrow(
      "cannot be checked",
    );
  });

  it("requires a signature if configured", async () => {
    const strict = createCardCheck({ ...TRUST, require: true });
    expect(await strict(bytes(signed(CARD)))).toMatchObject({ result: "verified" });
    await expect(strict(bytes(CARD))).rejects.toMatchObject({ code: "downgrade_refused" });
    await expect(strict(undefined)).rejects.toThrow("the card is not signed");
    const stranger = cardSigner({ key: newCardKey("EdDSA", "who").privateJwk });
    await expect(strict(bytes({ ...CARD, signatures: signCard(CARD, stranger) }))).rejects.toThrow('kid "who"');
  });
});

describe("published keys", () => {
  const JKU = "https://acme.example/keys";
  const signer = cardSigner({ key: EDDSA.privateJwk, jku: JKU });
  const document = bytes({ ...CARD, signatures: signCard(CARD, signer) });

  it("are fetched only from URLs that match a trusted one literally", async () => {
    const asked: string[] = [];
    const keysAt = async (url: string): Promise<readonly JsonObject[]> => {
      asked.push(url);
      return [{ kty: "oct", k: "AAAA", kid: "acme-1" }, EDDSA.publicJwk];
    };
    expect(await createCardCheck({ trustedJku: [`${JKU}/`] }, keysAt)(document)).toMatchObject({ result: "unknown" });
    expect(asked).toEqual([]);
    expect(await createCardCheck({ trustedJku: [JKU] }, keysAt)(document)).toEqual({ result: "verified", by: JKU });
    expect(asked).toEqual([JKU]);
  });

  it("that are unreadable make the result unknown, with the reason", async () => {
    const failing = createCardCheck({ trustedJku: [JKU] }, () => Promise.reject(new Error("down")));
    expect(await failing(document)).toMatchObject({ result: "unknown", problem: expect.stringContaining(JKU) });
  });
});

/** Every document that differs from this one in one character of one name or value. */
function* mutants(value: unknown): Generator {
  if (typeof value === "string") yield `${value.slice(0, -1)}${value.endsWith("x") ? "y" : "x"}`;
  else if (typeof value === "boolean") yield !value;
  else if (typeof value === "number") yield value + 1;
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const mutant of mutants(item)) yield value.map((each, at) => (at === index ? mutant : each));
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...others } = value as JsonObject;
      yield { ...others, [`${name.slice(0, -1)}_`]: member as JsonObject };
      for (const mutant of mutants(member)) yield { ...value, [name]: mutant };
    }
  }
}
