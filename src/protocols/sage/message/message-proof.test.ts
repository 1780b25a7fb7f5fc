import { beforeAll, describe, expect, test } from "vitest";
import { agentNamed, knownAgents } from "../../../../test/sage/known-agents.js";
import type { Envelope, Proof } from "../../../envelope/index.js";
import { createIdentity, createResolver, type LocalIdentity } from "../../../security/identity/index.js";
import { createReplayGuard } from "../../../security/replay/index.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { NEVER } from "../../../transport/request.js";
import { SageError } from "../errors.js";
import { EXTENSION_URI } from "../wire.js";
import { proofIn, signMessage, type Verification, verifyMessage } from "./message-proof.js";
import { readSigned } from "./signed-message.js";

const NOW = 1_800_000_000_000;
const [ann, bob, eve] = [agentNamed("ann"), agentNamed("bob"), agentNamed("eve")];
let nonce = 0;
const author = (identity: LocalIdentity, now = NOW) => ({ identity, now: () => now, newId: () => `n-${nonce++}` });
const verification = (more: Partial<Verification> = {}): Verification => ({
  resolver: createResolver({ methods: [knownAgents] }),
  now: () => NOW,
  cancel: NEVER,
  recipient: bob.did,
  ...more,
});

const MESSAGE: Envelope = {
  id: "m-1",
  ts: NOW / 1_000,
  src: "ann",
  dst: "bob",
  intent: "greet",
  role: "user",
  content: [
    { kind: "text", text: "good morning €", mediaType: "text/plain", name: "a.txt", metadata: { lang: "en" } },
    { kind: "data", data: { n: 1.5, list: [null, true, "x"] } },
    { kind: "raw", bytes: Uint8Array.of(0, 255, 7), mediaType: "image/png" },
    { kind: "url", url: "https://files.example/1" },
  ],
  context: { sessionId: "c-1", taskId: "t-1" },
  meta: {},
  metadata: { own: 1 },
};

let signed: Envelope;
let proof: Proof;
beforeAll(async () => {
  signed = await signMessage(MESSAGE, bob.did, author(ann));
  proof = proofOf(signed);
});

function proofOf(envelope: Envelope): Proof {
  const found = proofIn(envelope);
  if (found === undefined) throw new Error("not signed");
  return found;
}

const verify = (envelope: Envelope, more: Partial<Verification> = {}) =>
  verifyMessage(envelope, proofOf(envelope), verification(more));
const refused = (reason: string) => ({ facts: { detail: { reason } } });

function reasonOf(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown instanceof SageError ? thrown.reason : thrown;
  }
  return "accepted";
}

describe("a signed message", () => {
  test("says in the seed's form who signed it, and is verified as it was written", async () => {
    expect(signed.metadata).toEqual({
      own: 1,
      [EXTENSION_URI]: {
        security: {
          mode: "sage",
          did: ann.did,
          key_id: proof.keyId,
          signature: `keyid="${proof.keyId}", algorithm="ed25519", created=1800000000, signature="${Buffer.from(proof.signature).toString("base64")}"`,
        },
      },
    });
    const verified = await verify(signed);
    expect(verified.envelope).toEqual({ ...MESSAGE, proofs: [proof] });
    expect(Buffer.from(proof.signed).toString()).toMatch(
      /^koine-sage-message\|1\n\{"created":1800000000,"did":"did:sage:local:0x0{34}616e6e"/,
    );
  });

  test("stays what it is if it is signed again, and where ids of tasks and sessions are replaced", async () => {
    expect(await signMessage(signed, eve.did, author(eve))).toBe(signed);
    const moved = { ...signed, context: { sessionId: "other", taskId: "other" }, src: "gateway", ts: 1 };
    await expect(verify(moved)).resolves.toBeDefined();
  });

  test("gets back what only describes its parts", async () => {
    const content = MESSAGE.content.map((part) => ({ ...part, mediaType: undefined, name: undefined, metadata: undefined }));
    expect((await verify({ ...signed, content })).envelope.content).toEqual(MESSAGE.content);
  });

  test("is accepted once", async () => {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: () => NOW, knownSinceMs: 0 });
    await verify(signed, { replay });
    await expect(verify(signed, { replay })).rejects.toMatchObject({ name: "ErrReplayAttack", ...refused("sig.replay") });
  });

  test.each([
    ["another text", { content: [{ kind: "text", text: "good night" }, ...MESSAGE.content.slice(1)] }],
    ["a part less", { content: MESSAGE.content.slice(1) }],
    ["a part more", { content: [...MESSAGE.content, { kind: "text", text: "and send money" }] }],
    ["another id", { id: "m-2" }],
    ["another role", { role: "agent" }],
    ["another intent", { intent: "pay" }],
  ] as const)("with %s is refused", async (_what, change) => {
    await expect(verify({ ...signed, ...change } as Envelope)).rejects.toMatchObject(refused("content.mismatch"));
  });

  test("for somebody else, or by the key of somebody else, is refused", async () => {
    await expect(verify(signed, { recipient: eve.did })).rejects.toMatchObject(refused("sig.binding"));
    const byEve = proofOf(await signMessage(MESSAGE, bob.did, author(eve)));
    await expect(verifyMessage(signed, { ...proof, signed: byEve.signed }, verification())).rejects.toMatchObject(
      refused("sig.binding"),
    );
    await expect(
      verifyMessage(signed, { ...byEve, signer: ann.did, keyId: proof.keyId, signed: proof.signed }, verification()),
    ).rejects.toMatchObject(refused("sig.bad"));
  });

  test("that is not of now is refused", async () => {
    for (const now of [NOW - 31_000, NOW + 331_000])
      await expect(verify(signed, { now: () => now })).rejects.toMatchObject(refused("sig.stale"));
    for (const now of [NOW - 29_000, NOW + 329_000]) await expect(verify(signed, { now: () => now })).resolves.toBeDefined();
  });

  test("by a key that signs no messages, or that is in no record, is refused", async () => {
    const account = ann.keys().find(({ kind }) => kind === "secp256k1");
    const other = { ...proof, keyId: account?.id ?? "" };
    const text = Buffer.from(proof.signed).toString().replace(proof.keyId, other.keyId);
    const bytes = Buffer.from(text);
    const forged = { ...other, signed: bytes, signature: await ann.sign(other.keyId, bytes) };
    await expect(verifyMessage(signed, forged, verification())).rejects.toMatchObject(refused("key.not-in-record"));
    const ghost = createIdentity({ name: "ghost", did: `did:sage:local:0x${"9".repeat(40)}`, kinds: ["Ed25519"] });
    const unknown = await signMessage(MESSAGE, bob.did, author(ghost));
    await expect(verify(unknown)).rejects.toMatchObject(refused("key.not-in-record"));
  });

  test("with its signature or its member security removed or exchanged is refused", () => {
    const without = { ...signed, metadata: MESSAGE.metadata };
    expect(reasonOf(() => proofIn(without))).toBe("sig.missing");
    expect(reasonOf(() => proofIn({ ...signed, proofs: [] }))).toBe("sig.missing");
    expect(reasonOf(() => proofIn({ ...signed, proofs: [proof, proof] }))).toBe("sig.malformed");
    const other = { ...proof, signature: Uint8Array.from(proof.signature).reverse() };
    expect(reasonOf(() => proofIn({ ...signed, proofs: [other] }))).toBe("sig.binding");
    const mock = { security: { mode: "sage", signature: "mock-signature-1", key_id: "k", did: ann.did } };
    expect(reasonOf(() => proofIn({ ...signed, metadata: { [EXTENSION_URI]: mock } }))).toBe("sig.malformed");
    const mode = { security: { ...mock.security, mode: "plain" } };
    expect(reasonOf(() => proofIn({ ...signed, metadata: { [EXTENSION_URI]: mode } }))).toBe("sig.malformed");
    expect(proofIn(MESSAGE)).toBeUndefined();
  });
});

describe("a signed answer", () => {
  const answer: Envelope = { ...MESSAGE, id: "m-2", role: "agent", intent: "" };

  test("is bound to its request", async () => {
    const signedAnswer = await signMessage(answer, ann.did, author(bob), { request: proof });
    const asAnn = { recipient: ann.did, request: proof };
    await expect(verify(signedAnswer, asAnn)).resolves.toBeDefined();
    const another = proofOf(await signMessage(MESSAGE, bob.did, author(ann)));
    await expect(verify(signedAnswer, { ...asAnn, request: another })).rejects.toMatchObject(refused("sig.binding"));
    const unbound = await signMessage(answer, ann.did, author(bob));
    await expect(verify(unbound, asAnn)).rejects.toMatchObject(refused("sig.binding"));
  });
});

describe("signed bytes", () => {
  const text = (): string => Buffer.from(proof.signed).toString();
  test.each([
    ["of another kind", (bytes: string) => bytes.replace("message|1", "message|2")],
    ["that are not canonical", (bytes: string) => bytes.replace('{"created"', '{ "created"')],
    ["that are no JSON", (bytes: string) => `${bytes}}`],
    ["of another version", (bytes: string) => bytes.replace('"v":"1"', '"v":"2"')],
    ["with another role", (bytes: string) => bytes.replace('"role":"user"', '"role":"root"')],
    ["with a part of no kind", (bytes: string) => bytes.replace('"kind":"url"', '"kind":"uri"')],
    ["with a time that is none", (bytes: string) => bytes.replace('"created":1800000000', '"created":"now"')],
  ])("%s are refused", (_what, change) => {
    expect(reasonOf(() => readSigned(Buffer.from(change(text()))))).toBe("message.malformed");
  });

  test("that are no UTF-8 are refused", () => {
    expect(reasonOf(() => readSigned(Uint8Array.of(0xff)))).toBe("message.malformed");
  });
});
