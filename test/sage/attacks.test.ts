import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { messageKeyOf } from "../../src/protocols/sage/identity/signing-key.js";
import { SIGNATURES } from "../../src/protocols/sage/signatures/profile.js";
import { createIdentity, type LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { MessageSigner, type SignatureProfile, signBase } from "../../src/security/signatures/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { capturedSend, type Sent } from "./captured.js";
import { SageWorld } from "./world.js";

/**
 * Requests of an attacker who sees what callers send, each refused with a named reason. What callers send is captured; what is changed
 * is changed by hand.
 */

let world: SageWorld;
let ann: LocalIdentity;
let url: string;
let server: LocalIdentity;
beforeEach(async () => {
  world = new SageWorld();
  ({ url, identity: server } = await world.serve());
  ann = await world.register();
});
afterEach(async () => {
  world.log.expectMetered();
  await world.close();
});

/** A request with a message, as the caller signed it. It was not sent. */
const captured = (identity = ann, text = "hello"): Promise<Sent> => capturedSend(world, server.did, identity, { text });

async function post({ url: to, headers, body }: Sent) {
  const before = world.log.reasons().length;
  const response = await fetch(to, { method: "POST", headers, body });
  const answer = (await response.json()) as { result?: unknown; error?: { data?: { metadata?: { error?: string } }[] } };
  return {
    status: response.status,
    answered: answer.result !== undefined,
    error: answer.error?.data?.[0]?.metadata?.error,
    reasons: world.log
      .reasons()
      .slice(before)
      .map((each) => /\(([\w.-]+)\)/.exec(each)?.[1]),
  };
}

const refused = (reason: string, error = "ErrInvalidSignature") => ({ status: 401, answered: false, error, reasons: [reason] });

/** The request signed again by the attacker, who has the key of an identity but not that of the message. */
async function resigned(sent: Sent, profile: SignatureProfile, identity = ann, ahead = 0): Promise<Sent> {
  const { "signature-input": _input, signature: _signature, "content-digest": _digest, ...headers } = sent.headers;
  const signer = new MessageSigner({ profile, key: messageKeyOf(identity), now: () => Date.now() + ahead });
  const fields = await signer.request({ method: "POST", target: sent.url, headers }, Buffer.from(sent.body));
  return { ...sent, headers: { ...headers, ...(fields as Record<string, string>) } };
}

const without = (sent: Sent, ...names: readonly string[]): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).filter(([name]) => !names.includes(name))),
});

describe("a request of a caller that signs", () => {
  test("is accepted once, as it was sent", async () => {
    const sent = await captured();
    expect(await post(sent)).toEqual({ status: 200, answered: true, error: undefined, reasons: [] });
    expect(await post(sent)).toEqual(refused("sig.replay", "ErrReplayAttack"));
  });

  // Attack 1.
  test("without its signature is no plain one: what is left says that there was one", async () => {
    const sent = await captured();
    expect(await post(without(sent, "signature", "signature-input"))).toEqual(refused("sig.missing"));
    expect(await post(without(sent, "signature"))).toEqual(refused("sig.missing"));
    expect(await post(without(sent, "x-agent-did"))).toEqual(refused("sig.binding"));
  });

  test("under a DID that is in no registry is refused, however it proves it", async () => {
    const sent = await captured();
    const own = createIdentity({ name: "own", did: "key" });
    const claimed = { ...sent, headers: { ...sent.headers, "x-agent-did": own.did } };
    expect(await post(await resigned(claimed, SIGNATURES, own))).toEqual(refused("id.unknown-kind", "ErrDIDNotResolved"));
  });

  // Attack 3.
  test("with another algorithm than that of the key is refused", async () => {
    const sent = await captured();
    const input = sent.headers["signature-input"] ?? "";
    for (const alg of ["none", "hmac-sha256", "es256k"])
      expect(
        await post({ ...sent, headers: { ...sent.headers, "signature-input": input.replace('alg="ed25519"', `alg="${alg}"`) } }),
      ).toEqual(refused("sig.alg-mismatch"));
  });

  test("by the public key as a shared secret is refused", async () => {
    const sent = await captured();
    const { createSecretKey } = await import("node:crypto");
    const key = ann.keys().find(({ kind }) => kind === "Ed25519");
    const secret = createSecretKey(key?.bytes ?? new Uint8Array(32));
    const profile: SignatureProfile = { ...SIGNATURES, algorithms: ["hmac-sha256"] };
    const signer = new MessageSigner({
      profile,
      key: { keyId: key?.id ?? "", algorithm: "hmac-sha256", sign: (base) => signBase("hmac-sha256", secret, base) },
      now: Date.now,
    });
    const bare = without(sent, "signature", "signature-input", "content-digest");
    const fields = await signer.request({ method: "POST", target: sent.url, headers: bare.headers }, Buffer.from(sent.body));
    expect(await post({ ...bare, headers: { ...bare.headers, ...(fields as Record<string, string>) } })).toEqual(
      refused("sig.alg-mismatch"),
    );
  });

  // Attack 4.
  test.each(["@method", "@authority", "@path", "@query", "content-type", "content-digest", "date", "x-agent-did"])(
    "that does not cover %s is refused",
    async (component) => {
      const sign = SIGNATURES.request.sign.filter((each) => (typeof each === "string" ? each : each.component) !== component);
      const less: SignatureProfile = { ...SIGNATURES, request: { sign } };
      expect(await post(await resigned(await captured(), less))).toEqual(refused("sig.coverage"));
    },
  );

  // Attack 5.
  test("with another body is refused, whatever its digest says", async () => {
    const sent = await captured();
    const body = sent.body.replace("hello", "hullo");
    expect(await post({ ...sent, body })).toEqual(refused("digest.mismatch"));
    const { contentDigest } = await import("../../src/security/signatures/index.js");
    const digest = contentDigest(body, "sha-256");
    expect(await post({ ...sent, body, headers: { ...sent.headers, "content-digest": digest } })).toEqual(refused("sig.bad"));
  });

  // Attack 6.
  test("sent to another host, path or query is refused", async () => {
    const sent = await captured();
    const other = await world.serve();
    expect(await post({ ...sent, url: sent.url.replace(url, other.url) })).toEqual(refused("sig.bad"));
    expect(await post({ ...sent, url: `${url}/a2a/who` })).toEqual(refused("sig.bad"));
    expect(await post({ ...sent, url: `${sent.url}?x=1` })).toEqual(refused("sig.bad"));
  });

  // Attack 7.
  test.each(["nonce", "expires", "created", "keyid", "alg"] as const)("without %s is refused", async (name) => {
    const parameters = SIGNATURES.parameters.filter((each) => each !== name);
    const less: SignatureProfile = { ...SIGNATURES, parameters };
    expect(await post(await resigned(await captured(), less))).toEqual(refused("sig.malformed"));
  });

  test("that is valid for too long, too early or too late is refused", async () => {
    const long: SignatureProfile = { ...SIGNATURES, lifetimeMs: 301_000 };
    expect(await post(await resigned(await captured(), long))).toEqual(refused("sig.stale"));
    expect(await post(await resigned(await captured(), SIGNATURES, ann, 60_000))).toEqual(refused("sig.stale"));
    expect(await post(await resigned(await captured(), SIGNATURES, ann, -400_000))).toEqual(refused("sig.stale"));
  });

  test("whose Date and time of signature disagree is refused", async () => {
    const dated = async (date: string) => {
      const sent = await captured();
      return post(await resigned({ ...sent, headers: { ...sent.headers, date } }, SIGNATURES));
    };
    const at = (ms: number): string => new Date(Date.now() + ms).toUTCString();
    expect(await dated(at(-60_000))).toEqual(refused("sig.stale"));
    expect(await dated(at(60_000))).toEqual(refused("sig.stale"));
    expect(await dated("yesterday")).toEqual(refused("sig.stale"));
    expect(await dated(at(-10_000))).toMatchObject({ status: 200, answered: true });
  });

  // Attack 8.
  test("in the name of another DID is refused: in its header, in its key, and in its message", async () => {
    const mallory = await world.register();
    const sent = await captured();
    const named = { ...sent, headers: { ...sent.headers, "x-agent-did": mallory.did } };
    expect(await post(named)).toEqual(refused("sig.binding"));
    expect(await post(await resigned(named, SIGNATURES, ann))).toEqual(refused("sig.binding"));
    expect(await post(await resigned(named, SIGNATURES, mallory))).toEqual(refused("sig.binding"));
  });

  // Attack 9.
  test("with a second signature: one of somebody else is ignored, a second of ours is refused", async () => {
    const sent = await captured();
    const { "signature-input": input = "", signature = "" } = sent.headers;
    const foreign = 'other=("@method");created=1;keyid="x"';
    const added = (more: string) => ({
      ...sent,
      headers: { ...sent.headers, "signature-input": `${input}, ${more}`, signature: `${signature}, other=:AAAA:` },
    });
    expect(await post(added(`${foreign};tag="koine-sage-1"`))).toEqual(refused("sig.malformed"));
    expect(await post(added(foreign))).toMatchObject({ status: 200, answered: true });
  });

  // Attack 16.
  test("by a key that was revoked, or of an agent that was deactivated, is refused", async () => {
    const first = await captured();
    const key =
      ann
        .keys()
        .find(({ kind }) => kind === "Ed25519")
        ?.id.split("#")[1] ?? "";
    await world.submit(ann, { kind: "revoke", name: key });
    expect(await post(first)).toEqual(refused("key.not-in-record"));
    const bob = await world.register();
    const second = await captured(bob);
    await world.submit(bob, { kind: "deactivate" });
    expect(await post(second)).toEqual(refused("key.not-in-record"));
  });

  test("by a DID that is not registered is refused", async () => {
    const { newAgent } = await import("./registries.js");
    const nobody = await newAgent();
    expect(await post(await captured(nobody))).toEqual(refused("record.not-found", "ErrDIDNotResolved"));
  });

  // Attack 24.
  test("is refused after a restart that lost what was accepted before, unless it answers a challenge", async () => {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now });
    const other = await world.serve(undefined, { replay });
    server = other.identity;
    expect(await post(await captured())).toEqual(refused("sig.challenge", "ErrReplayAttack"));
    const peer = await world.connect(server.did, ann);
    expect(await peer.ask("hello")).toBe(`did:${ann.did}: hello`);
  });
});
