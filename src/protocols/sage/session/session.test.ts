import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../security/hashes.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { expand } from "../../../security/sealed-records/index.js";
import { MessageSigner, type SignatureProfile, SignatureVerifier } from "../../../security/signatures/index.js";
import { SageSession, SessionError, type SessionReason, type SessionStart } from "./index.js";

const START = Date.parse("2026-11-17T12:00:00Z");
const SECRET = sha256("koine test: session secret");
const TRANSCRIPT = sha256("koine test: session transcript");
const [ANN, BOB] = ["did:sage:local:0xa", "did:sage:local:0xb"];
const NONE = new Uint8Array(0);
const text = (some: string): Buffer => Buffer.from(some);
const key = (id: string, fill: number): PublicKey => ({
  id,
  kind: "Ed25519",
  bytes: new Uint8Array(32).fill(fill),
  uses: ["authentication"],
});
const PINNED = [key(`${ANN}#key-2`, 1), key(`${BOB}#key-2`, 2), key(`${BOB}#key-3`, 3)];

let nowMs = START;

function pair(change: Partial<SessionStart> = {}): { readonly ann: SageSession; readonly bob: SageSession } {
  nowMs = START;
  const start = { secret: SECRET, transcript: TRANSCRIPT, keyId: "k", pinned: PINNED, pendingMs: 300_000, now: () => nowMs };
  return {
    ann: new SageSession({ ...start, role: "initiator", ownDid: ANN, peerDid: BOB, ...change }),
    bob: new SageSession({ ...start, role: "responder", ownDid: BOB, peerDid: ANN, ...change }),
  };
}

/** Both sides may send. */
function open(change: Partial<SessionStart> = {}): { readonly ann: SageSession; readonly bob: SageSession } {
  const both = pair(change);
  both.bob.confirm();
  return both;
}

function reasonOf(run: () => unknown): SessionReason | "none" {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown;
    expect(thrown.facts.detail).toEqual({ error: thrown.name, reason: thrown.reason });
    return thrown.reason;
  }
  return "none";
}

describe("a session", () => {
  test("shows the fields of SAGE without the keys", () => {
    const { ann } = pair();
    const view = { sessionId: ann.sessionId, keyId: "k", peerDid: BOB, createdAt: START, expiresAt: START + 3_600_000 };
    expect(JSON.parse(JSON.stringify(ann))).toEqual(view);
    expect(Buffer.from(ann.sessionId, "base64url")).toEqual(
      Buffer.from(sha256(Buffer.concat([text("sage-session|0.10.0"), TRANSCRIPT]))).subarray(0, 16),
    );
    const shown = inspect(ann, { showHidden: true, depth: 9 }) + JSON.stringify({ ...ann }) + JSON.stringify(Object.entries(ann));
    expect(shown).not.toMatch(/secret|mac|channel|Uint8Array|Buffer/i);
    expect(Object.keys(ann).sort()).toEqual(["createdAt", "keyId", "ownDid", "peerDid", "role", "sessionId"]);
    expect(() => structuredClone(ann)).not.toThrow();
    expect(structuredClone(ann)).not.toHaveProperty("encrypt");
  });

  test("carries any message both ways, in any order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 40 })), { maxLength: 20 }),
        fc.infiniteStream(fc.nat()),
        (messages, order) => {
          const { ann, bob } = open();
          for (const [from, to] of [
            [ann, bob],
            [bob, ann],
          ] as const) {
            const sealed = messages.map(([plain, associated]) => ({
              plain,
              associated,
              record: from.encrypt(plain, associated),
            }));
            while (sealed.length > 0) {
              const [next] = sealed.splice((order.next().value ?? 0) % sealed.length, 1);
              if (next === undefined) throw new Error("there is one");
              expect(Buffer.from(to.decrypt(next.record, next.associated))).toEqual(Buffer.from(next.plain));
              expect(reasonOf(() => to.decrypt(next.record, next.associated))).toBe("session.replay");
            }
          }
        },
      ),
      { numRuns: 50, seed: 20 },
    );
  });

  test("opens nothing that was altered in any bit, cut or made up", () => {
    const { ann, bob } = open();
    const record = ann.encrypt(text("a message"), text("bound"));
    fc.assert(
      fc.property(fc.nat(record.length * 8 - 1), (bit) => {
        const altered = Uint8Array.from(record);
        altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(["session.aead", "session.window"]).toContain(reasonOf(() => bob.decrypt(altered, text("bound"))));
      }),
      { numRuns: 300, seed: 20 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (made) => {
        expect(["session.aead", "session.window"]).toContain(reasonOf(() => bob.decrypt(made, text("bound"))));
      }),
      { numRuns: 300, seed: 20 },
    );
    expect(reasonOf(() => bob.decrypt(record.subarray(0, 35), text("bound")))).toBe("session.aead");
    expect(reasonOf(() => bob.decrypt(record, text("other")))).toBe("session.aead");
    expect(Buffer.from(bob.decrypt(record, text("bound"))).toString()).toBe("a message");
  });

  test("15: refuses a record that is reflected, replayed, or out of range", () => {
    const { ann, bob } = open();
    const first = ann.encrypt(text("first"), NONE);
    expect(reasonOf(() => ann.decrypt(first, NONE))).toBe("session.aead");
    bob.decrypt(first, NONE);
    expect(reasonOf(() => bob.decrypt(first, NONE))).toBe("session.replay");
    const late = ann.encrypt(text("late"), NONE);
    for (let sequence = 2; sequence < 1_000; sequence++) bob.decrypt(ann.encrypt(NONE, NONE), NONE);
    expect(reasonOf(() => ann.encrypt(NONE, NONE))).toBe("session.exhausted");
    // The window is as large as a session: the second record may come last.
    expect(Buffer.from(bob.decrypt(late, NONE)).toString()).toBe("late");
    const beyond = Uint8Array.from(first);
    beyond.set([3, 0xe8], 6);
    beyond.set([3, 0xe8], 18);
    expect(reasonOf(() => bob.decrypt(beyond, NONE))).toBe("session.window");
    expect(ann.isUsable).toBe(false);
  });

  test("refuses what is too large", () => {
    const { ann } = open();
    expect(reasonOf(() => ann.encrypt(NONE, new Uint8Array(4_034)))).toBe("size.exceeded");
    expect(reasonOf(() => ann.encrypt(new Uint8Array(8 * 1_024 * 1_024 + 1), NONE))).toBe("size.exceeded");
    expect(ann.encrypt(NONE, new Uint8Array(4_033))).toHaveLength(36);
  });

  test("has another key for each direction and each 256 records", () => {
    const { ann, bob } = open();
    const records = Array.from({ length: 257 }, () => ann.encrypt(text("same"), NONE));
    for (const [index, record] of records.entries())
      expect(Buffer.from(bob.decrypt(record, NONE)).toString(), `${index}`).toBe("same");
    expect(Buffer.from(bob.encrypt(text("same"), NONE))).not.toEqual(Buffer.from(records[0] ?? NONE));
  });
});

describe("the signatures of a session", () => {
  test("are HMAC-SHA256 with a key for each direction", () => {
    const { ann, bob } = open();
    const expected = (label: string) =>
      createHmac("sha256", expand(SECRET, `ute-sage-${label}-mac|1`, TRANSCRIPT))
        .update("signed")
        .digest("hex");
    expect(Buffer.from(ann.sign(text("signed"))).toString("hex")).toBe(expected("c2s"));
    expect(Buffer.from(bob.sign(text("signed"))).toString("hex")).toBe(expected("s2c"));
    expect([bob.verify(text("signed"), ann.sign(text("signed"))), ann.verify(text("signed"), ann.sign(text("signed")))]).toEqual([
      true,
      false, // its own
    ]);
    expect(bob.verify(text("other"), ann.sign(text("signed")))).toBe(false);
  });

  test("end with the messages of a session", () => {
    const { ann } = open();
    for (let count = 0; count < 1_000; count++) ann.sign(NONE);
    expect(reasonOf(() => ann.sign(NONE))).toBe("session.exhausted");
    expect(ann.isUsable).toBe(false);
  });

  test("are those of RFC 9421 with the session's key id", async () => {
    const profile: SignatureProfile = {
      label: "sig1",
      tag: "ute-sage-1",
      parameters: ["created", "expires", "nonce", "keyid", "alg"],
      algorithms: ["hmac-sha256"],
      digest: "sha-256",
      request: { sign: ["@method", "@authority", { component: "content-digest", when: "body" }] },
      lifetimeMs: 300_000,
      skewMs: 30_000,
    };
    const { ann, bob } = pair();
    const request = { method: "POST", target: "https://bob.example/a2a", headers: {} };
    const signer = new MessageSigner({ profile, key: ann.signingKey(), now: () => nowMs });
    const fields = await signer.request(request, text("{}"));
    const verifier = new SignatureVerifier(profile);
    const order = {
      message: { request: { ...request, headers: fields } },
      kind: "request" as const,
      hasBody: true,
      nowMs,
    };
    const verified = await verifier.verify({ ...order, keys: (id) => (id === bob.keyId ? bob.verificationKey() : undefined) });
    expect([verified.keyId, verified.key.algorithm]).toEqual(["k", "hmac-sha256"]);
    expect(() => verifier.verify({ ...order, keys: () => ann.verificationKey() })).toThrow("does not match");
    expect(reasonOf(() => bob.sign(NONE))).toBe("session.provisional");
    bob.confirm();
    expect(bob.sign(NONE)).toHaveLength(32);
  });
});

describe("a responder", () => {
  test("sends nothing before the first valid message, and waits for it only so long", () => {
    const { ann, bob } = pair();
    for (const run of [() => bob.encrypt(NONE, NONE), () => bob.sign(NONE), () => bob.openStream()])
      expect(reasonOf(run)).toBe("session.provisional");
    expect(reasonOf(() => bob.decrypt(new Uint8Array(40), NONE))).toBe("session.aead");
    expect(bob.verify(NONE, new Uint8Array(32))).toBe(false);
    expect(bob.isConfirmed).toBe(false);
    nowMs += 299_999;
    bob.decrypt(ann.encrypt(NONE, NONE), NONE);
    expect(bob.isConfirmed).toBe(true);
    expect(bob.encrypt(NONE, NONE)).toHaveLength(36);
    const late = pair();
    nowMs += 300_000;
    expect(reasonOf(() => late.bob.decrypt(late.ann.encrypt(NONE, NONE), NONE))).toBe("session.expired");
  });
});

describe("the end of a session", () => {
  test.each([
    [599_999, "none"],
    [600_000, "session.expired"],
  ] as const)("after %i ms without a record: %s", (idle, reason) => {
    const { ann } = open();
    nowMs += idle;
    expect(reasonOf(() => ann.encrypt(NONE, NONE))).toBe(reason);
  });

  test("after an hour, however busy it is", () => {
    const { ann } = open();
    for (let minute = 0; minute < 59; minute++) {
      nowMs += 60_000;
      ann.encrypt(NONE, NONE);
    }
    nowMs += 59_999;
    expect([ann.isUsable, reasonOf(() => ann.encrypt(NONE, NONE))]).toEqual([true, "none"]);
    nowMs += 1;
    expect([ann.isUsable, reasonOf(() => ann.encrypt(NONE, NONE))]).toEqual([false, "session.expired"]);
  });

  test("earlier, if the handshake or a key says so", () => {
    const { ann } = open({ expiresAt: START + 60_000 });
    expect(ann.expiresAt).toBe(START + 60_000);
    nowMs += 60_000;
    expect(reasonOf(() => ann.sign(NONE))).toBe("session.expired");
    expect(open({ expiresAt: START + 9_000_000 }).ann.expiresAt).toBe(START + 3_600_000);
    const [first, ...others] = PINNED as [PublicKey, ...PublicKey[]];
    expect(open({ pinned: [{ ...first, expires: START + 5_000 }, ...others] }).ann.expiresAt).toBe(START + 5_000);
  });

  test.each([
    ["revoked", PINNED.slice(0, 2), "key.revoked"],
    ["replaced under its name", [PINNED[1], key(`${BOB}#key-3`, 9)], "key.revoked"],
    ["of another kind", [PINNED[1], { ...key(`${BOB}#key-3`, 3), kind: "X25519" }], "key.revoked"],
    ["expired", [PINNED[1], { ...key(`${BOB}#key-3`, 3), expires: START }], "session.expired"],
    ["the same, and another one new", [...PINNED, key(`${BOB}#key-4`, 4)], "none"],
  ] as const)("16: a key of the handshake that is %s", (_, keys, reason) => {
    const { ann } = open();
    expect(reasonOf(() => ann.checkKeys(BOB, keys as readonly PublicKey[]))).toBe(reason);
    expect(reasonOf(() => ann.encrypt(NONE, NONE))).toBe(reason);
  });

  test("with a key that gets an end", () => {
    const { ann } = open();
    ann.checkKeys(
      BOB,
      PINNED.map((each) => ({ ...each, expires: START + 390_000 })),
    );
    expect(ann.expiresAt).toBe(START + 390_000);
    expect(reasonOf(() => ann.checkKeys(ANN, PINNED))).toBe("none");
  });

  test("22: nothing more is sent or read after it", () => {
    const { ann, bob } = open();
    const record = bob.encrypt(NONE, NONE);
    ann.close();
    for (const run of [
      () => ann.encrypt(NONE, NONE),
      () => ann.decrypt(record, NONE),
      () => ann.sign(NONE),
      () => ann.verify(NONE, NONE),
      () => ann.verificationKey(),
      () => ann.openStream(),
      () => ann.readStream("AAAAAAAAAAAAAAAAAAAAAA"),
      () => ann.checkOpen(),
    ])
      expect(reasonOf(run)).toBe("session.closed");
  });

  test.each([
    ["records sent", (ann: SageSession) => ann.encrypt(NONE, NONE), 800],
    ["signatures", (ann: SageSession) => ann.sign(NONE), 800],
    ["streams", (ann: SageSession) => ann.openStream(), 800],
  ] as const)("is near at 80 %% of its %s", (_, use, times) => {
    const { ann } = open();
    for (let count = 1; count < times; count++) use(ann);
    expect(ann.isNearEnd).toBe(false);
    use(ann);
    expect(ann.isNearEnd).toBe(true);
  });

  test("is near at 80 % of the records received, and of its life", () => {
    const { ann, bob } = open();
    for (let count = 0; count < 800; count++) ann.decrypt(bob.encrypt(NONE, NONE), NONE);
    expect(ann.isNearEnd).toBe(true);
    const other = open();
    nowMs += 2_879_999;
    expect(other.ann.isNearEnd).toBe(false);
    nowMs += 1;
    expect(other.ann.isNearEnd).toBe(true);
  });
});

test("an error that is not of the record layer keeps its name", () => {
  const { ann } = open();
  expect(() => ann.encrypt(undefined as unknown as Uint8Array, NONE)).toThrow(TypeError);
});
