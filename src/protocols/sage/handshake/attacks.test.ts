import { describe, expect, test } from "vitest";
import { Agents, agent, START, signingKey } from "../../../../test/sage/handshake-pair.js";
import type { JsonObject } from "../../../envelope/index.js";
import { hpkeSender } from "../../../security/hpke/index.js";
import type { Identity } from "../../../security/identity/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { establish, HandshakeError, type HandshakeForm, type HandshakeReason, Responder } from "./index.js";

/** The attacks on handshakes of the threat list of SAGE, each refused for its own reason. Numbers are those of that list. */

const FORMS = ["hpke", "four-phase"] as const;
const LOW_ORDER = Buffer.alloc(32).toString("base64url");
const EMPTY = new Uint8Array(0);

async function reasonOf(run: Promise<unknown>): Promise<HandshakeReason | "none"> {
  try {
    await run;
  } catch (thrown) {
    if (!(thrown instanceof HandshakeError)) throw thrown;
    expect(thrown.facts.detail).toEqual({ error: thrown.name, reason: thrown.reason });
    return thrown.reason;
  }
  return "none";
}

/** Changes one message on its way. */
const altering = (step: number, change: JsonObject) => (message: JsonObject, at: number) =>
  at === step ? { ...message, ...change } : message;

/** As an attacker does that has the key of one side: signed again after the change. */
async function signedAgain(message: JsonObject, change: JsonObject, by: Identity): Promise<JsonObject> {
  const { sig: _, ...changed } = { ...message, ...change };
  const label = `ute-sage-hs4-${String(changed["phase"])}|1\n`;
  const sig = await by.sign(signingKey(by).id, Buffer.from(label + canonicalJson(changed)));
  return { ...changed, sig: Buffer.from(sig).toString("base64url") };
}

/** The first messages of a handshake that Ann begins. */
async function firstOf(agents: Agents, form: HandshakeForm): Promise<JsonObject> {
  let first: JsonObject = {};
  const stop = new Error("stop");
  await establish(agents.ann, { peerDid: agents.bob.identity.did, form }, (message) => {
    first = message;
    return Promise.reject(stop);
  }).catch((thrown: unknown) => {
    if (thrown !== stop) throw thrown;
  });
  return first;
}

describe.each(FORMS)("a handshake (%s)", (form) => {
  test("ends in the same session on both sides", async () => {
    const { ann, bob } = await new Agents().connect(form);
    expect([bob.sessionId, bob.keyId, bob.peerDid, ann.peerDid]).toEqual([ann.sessionId, ann.keyId, ann.ownDid, bob.ownDid]);
    expect(ann.expiresAt).toBe(bob.expiresAt);
    const record = ann.encrypt(Buffer.from("hello"), EMPTY);
    expect(Buffer.from(bob.decrypt(record, EMPTY)).toString()).toBe("hello");
    expect(Buffer.from(ann.decrypt(bob.encrypt(Buffer.from("welcome"), EMPTY), EMPTY)).toString()).toBe("welcome");
    const again = await new Agents().connect(form);
    expect(again.ann.sessionId).not.toBe(ann.sessionId);
  });

  test("12: for another DID is refused, also when both have the same keys", async () => {
    const agents = new Agents();
    const eve = agents.side(agent("e"));
    const forBob = await firstOf(agents, form);
    expect(await reasonOf(new Responder(eve).receive(forBob, agents.signedBy()))).toBe("handshake.recipient");
  });

  test("13: a first message that was answered is refused", async () => {
    const agents = new Agents();
    const { messages } = await agents.connect(form);
    expect(await reasonOf(agents.responder.receive(messages[0], agents.signedBy()))).toBe("handshake.replay");
    // Another process with the same guard, too.
    expect(await reasonOf(new Responder(agents.bob).receive(messages[0], agents.signedBy()))).toBe("handshake.replay");
  });

  test("that took too long is refused", async () => {
    const agents = new Agents();
    const late = agents.connect(form, (message, step) => {
      if (step === 2) agents.nowMs += form === "hpke" ? 300_000 : 60_000;
      return message;
    });
    expect(await reasonOf(late)).toBe("handshake.expired");
  });

  test("with a key that its DID does not have is refused", async () => {
    const agents = new Agents();
    agents.records.set(agents.ann.identity.did, agent("a").keys());
    const reason = await reasonOf(agents.connect(form));
    // The names of the keys are the same: only the signature shows it. The form of one round trip is signed outside.
    expect(reason).toBe(form === "hpke" ? "none" : "sig.bad");
    agents.records.set(agents.ann.identity.did, []);
    expect(await reasonOf(agents.connect(form))).toBe("key.not-in-record");
  });

  test("with a key that has expired is refused", async () => {
    const agents = new Agents();
    const { did } = agents.bob.identity;
    agents.records.set(
      did,
      agents.bob.identity.keys().map((key) => ({ ...key, expires: agents.nowMs })),
    );
    expect(await reasonOf(agents.connect(form))).toBe("key.not-in-record");
  });
});

describe("the form of one round trip", () => {
  test.each([
    ["suite", "hpke-base+x448+hkdf-sha512", "handshake.suite"],
    ["combiner", "none", "handshake.suite"],
    ["v", "0.9.0", "version.unsupported"],
  ] as const)("11: another %s is refused by the responder", async (name, value, reason) => {
    expect(await reasonOf(new Agents().connect("hpke", altering(1, { [name]: value })))).toBe(reason);
  });

  test("11: whatever of the first message was altered, the initiator sees it in the answer", async () => {
    const other = Buffer.alloc(16, 7).toString("base64url");
    expect(await reasonOf(new Agents().connect("hpke", altering(1, { nonce: other })))).toBe("handshake.transcript");
    const ctx = "22222222-2222-4222-8222-222222222222";
    expect(await reasonOf(new Agents().connect("hpke", altering(1, { ctx })))).toBe("handshake.transcript");
  });

  test("11: an answer whose transcript is put back is not signed", async () => {
    const agents = new Agents();
    let sent: JsonObject = {};
    const nonce = Buffer.alloc(16, 7).toString("base64url");
    const putBack = (message: JsonObject, step: number): JsonObject => {
      if (step === 1) sent = message;
      if (step === 1) return { ...message, nonce };
      return { ...message, transcript: { ...(message["transcript"] as JsonObject), nonce: sent["nonce"] ?? null } };
    };
    expect(await reasonOf(agents.connect("hpke", putBack))).toBe("sig.bad");
  });

  test("12: signed by another key than it names, or by none", async () => {
    const agents = new Agents();
    const first = await firstOf(agents, "hpke");
    const eve = agent("e");
    expect(await reasonOf(agents.responder.receive(first, agents.signedBy(eve)))).toBe("handshake.signer");
    expect(await reasonOf(agents.responder.receive(first))).toBe("handshake.signer");
  });

  test.each(["enc", "ephC"])("13: %s of small order", async (name) => {
    const agents = new Agents();
    expect(await reasonOf(agents.connect("hpke", altering(1, { [name]: LOW_ORDER })))).toBe("handshake.share");
  });

  test("13: an answer is taken once, and never by another handshake", async () => {
    const agents = new Agents();
    const { messages } = await agents.connect("hpke");
    expect(await reasonOf(agents.connect("hpke", (message, step) => (step === 2 ? messages[1] : message)))).toBe(
      "handshake.transcript",
    );
  });

  test("an acknowledgement by somebody without the secret", async () => {
    const agents = new Agents();
    const { identity } = agents.bob;
    // Bob's key signs, so that only the tag is wrong.
    const answer = async (message: JsonObject): Promise<JsonObject> => {
      const { reply } = await agents.responder.receive(message, agents.signedBy());
      const forged: JsonObject = { ...reply, ackTagB64: LOW_ORDER };
      const { sigB64: _, ...body } = forged;
      const sig = await identity.sign(signingKey(identity).id, Buffer.from(`sage-hpke-complete|0.10.0\n${canonicalJson(body)}`));
      return { ...body, sigB64: Buffer.from(sig).toString("base64url") };
    };
    expect(await reasonOf(establish(agents.ann, { peerDid: identity.did }, answer))).toBe("handshake.ack");
  });
});

describe("the form of four phases", () => {
  test("11: a list of suites that was altered is not signed", async () => {
    const suites = ["weak", "hpke-base+x25519+hkdf-sha256"];
    expect(await reasonOf(new Agents().connect("four-phase", altering(1, { suites })))).toBe("sig.bad");
  });

  test("11: a version, or suites of which none is known", async () => {
    expect(await reasonOf(new Agents().connect("four-phase", altering(1, { v: "2" })))).toBe("version.unsupported");
    expect(await reasonOf(new Agents().connect("four-phase", altering(1, { suites: ["weak"] })))).toBe("handshake.suite");
  });

  test("11: a responder that chooses what was not offered, or answers another invitation", async () => {
    const agents = new Agents();
    const { identity } = agents.bob;
    let last = 0;
    const connect = (change: JsonObject) =>
      agents.connect("four-phase", (message, step) => {
        last = step;
        return step === 2 ? signedAgain(message, change, identity) : message;
      });
    expect(await reasonOf(connect({ suite: "weak" }))).toBe("handshake.suite");
    expect([await reasonOf(connect({ h1: LOW_ORDER })), last]).toEqual(["handshake.transcript", 2]);
    expect(await reasonOf(connect({ ctx: "22222222-2222-4222-8222-222222222222" }))).toBe("handshake.transcript");
    expect(await reasonOf(connect({ expires: 0 }))).toBe("handshake.time");
    expect(await reasonOf(connect({ encB: LOW_ORDER }))).toBe("handshake.share");
    expect(await reasonOf(connect({ ctB: Buffer.alloc(48).toString("base64url") }))).toBe("handshake.sealed");
    // The initiator itself refuses each: it sends no request.
    expect(last).toBe(2);
  });

  test.each([
    [2, { respKid: "did:sage:local:0xeee#key-1" }, "handshake.malformed"],
    [2, { nonce: LOW_ORDER.slice(0, 22) }, "sig.bad"],
    [3, { nonce: LOW_ORDER.slice(0, 22) }, "sig.bad"],
    [3, { h2: LOW_ORDER }, "sig.bad"],
    [4, { th: LOW_ORDER }, "sig.bad"],
    [4, { kid: "22222222-2222-4222-8222-222222222222" }, "sig.bad"],
  ] as const)("message %i with %j", async (step, change, reason) => {
    expect(await reasonOf(new Agents().connect("four-phase", altering(step, change)))).toBe(reason);
  });

  /** One side alters its own message and signs it. The last message says who refused it. */
  const cheating = async (agents: Agents, at: number, change: JsonObject) => {
    let last = 0;
    const alter = (message: JsonObject, step: number) => {
      last = step;
      return step === at ? signedAgain(message, change, at === 3 ? agents.ann.identity : agents.bob.identity) : message;
    };
    return [await reasonOf(agents.connect("four-phase", alter)), last];
  };

  test.each([
    [3, { h2: LOW_ORDER }, "handshake.transcript"],
    [3, { created: 0, expires: 60 }, "handshake.time"],
    [4, { th: LOW_ORDER }, "handshake.transcript"],
    [4, { ackTag: LOW_ORDER }, "handshake.ack"],
    [4, { created: 0, expires: 60 }, "handshake.time"],
    [4, { expiresAt: START / 1_000 }, "handshake.expired"],
    [4, { kid: "22222222-2222-4222-8222-222222222222" }, "handshake.transcript"],
  ] as const)("message %i with %j, signed by its sender", async (at, change, reason) => {
    expect(await cheating(new Agents(), at, change)).toEqual([reason, at]);
  });

  test("a request that comes too late", async () => {
    const agents = new Agents();
    let last = 0;
    const late = agents.connect("four-phase", (message, step) => {
      last = step;
      if (step === 3) agents.nowMs += 60_000;
      return message;
    });
    expect([await reasonOf(late), last]).toEqual(["handshake.expired", 3]);
  });

  test("an invitation for a handshake that is under way", async () => {
    const agents = new Agents();
    const first = await firstOf(agents, "four-phase");
    const second = await signedAgain(first, { nonce: Buffer.alloc(16, 7).toString("base64url") }, agents.ann.identity);
    expect(await reasonOf(agents.responder.receive(first))).toBe("none");
    expect(await reasonOf(agents.responder.receive(second))).toBe("handshake.replay");
  });

  test("handshakes that are complete are not under way any more", async () => {
    const agents = new Agents();
    for (let count = 0; count < 9; count++) expect(await reasonOf(agents.connect("four-phase"))).toBe("none");
  });

  test("13: a request is completed once", async () => {
    const agents = new Agents();
    const { messages } = await agents.connect("four-phase");
    expect(await reasonOf(agents.responder.receive(messages[2]))).toBe("handshake.replay");
    expect(await reasonOf(new Agents(agents.ann.identity, agents.bob.identity).responder.receive(messages[2]))).toBe(
      "handshake.unknown",
    );
  });

  test("13: two requests at once make one session", async () => {
    const agents = new Agents();
    const first = await firstOf(agents, "four-phase");
    expect(first["phase"]).toBe("invitation");
    const both: Promise<unknown>[] = [];
    await establish(agents.ann, { peerDid: agents.bob.identity.did, form: "four-phase" }, async (message) => {
      if (message["phase"] === "invitation") return (await agents.responder.receive(message)).reply;
      both.push(agents.responder.receive(message), agents.responder.receive(message));
      return (await Promise.allSettled(both)).flatMap((each) =>
        each.status === "fulfilled" ? [(each.value as { reply: JsonObject }).reply] : [],
      )[0];
    });
    const reasons = await Promise.all(both.map(reasonOf));
    expect(reasons.sort()).toEqual(["handshake.replay", "none"]);
  });

  test("13: the answers of a complete handshake are not taken again", async () => {
    const agents = new Agents();
    const { messages } = await agents.connect("four-phase");
    const replayed = agents.connect("four-phase", (message, step) => (step % 2 === 0 ? messages[step - 1] : message));
    expect(await reasonOf(replayed)).toBe("handshake.transcript");
  });

  test("13: a key share of small order, sealed and signed", async () => {
    const agents = new Agents();
    const kem = agents.bob.identity.keys().find(({ kind }) => kind === "X25519")?.bytes ?? EMPTY;
    const sealing = async (message: JsonObject, step: number): Promise<JsonObject> => {
      if (step !== 3) return message;
      const h2 = Buffer.from(String(message["h2"]), "base64url");
      const hpke = hpkeSender(kem, Buffer.concat([Buffer.from("ute-sage-hs4-info3|1\n"), h2]));
      const [encA, ctA] = [hpke.enc, hpke.seal(new Uint8Array(32), h2)].map((each) => Buffer.from(each).toString("base64url"));
      return signedAgain(message, { encA: encA ?? null, ctA: ctA ?? null }, agents.ann.identity);
    };
    expect(await reasonOf(agents.connect("four-phase", sealing))).toBe("handshake.share");
  });

  test("a message of yesterday, of tomorrow, or valid for too long", async () => {
    const agents = new Agents();
    const first = await firstOf(agents, "four-phase");
    const { identity } = agents.ann;
    const created = Number(first["created"]);
    for (const change of [
      { created: created - 91, expires: created - 31 },
      { created: created + 31, expires: created + 91 },
      { created, expires: created + 61 },
      { created, expires: created },
    ]) {
      const message = await signedAgain(first, change, identity);
      expect(await reasonOf(agents.responder.receive(message))).toBe("handshake.time");
    }
    const message = await signedAgain(first, { created: created - 60, expires: created - 29 }, identity);
    expect(await reasonOf(agents.responder.receive(message))).toBe("none");
  });

  test("a peer has a share of the handshakes under way, and it comes back", async () => {
    const agents = new Agents();
    const invitations = await Promise.all(Array.from({ length: 9 }, () => firstOf(agents, "four-phase")));
    for (const each of invitations.slice(0, 8)) expect(await reasonOf(agents.responder.receive(each))).toBe("none");
    expect(await reasonOf(agents.responder.receive(invitations[8]))).toBe("handshake.full");
    agents.nowMs += 60_000;
    expect(await reasonOf(agents.responder.receive(invitations[8]))).toBe("none");
  });
});

test("a handshake closes with the first key that ends", async () => {
  const agents = new Agents();
  const end = agents.nowMs + 90_000;
  agents.records.set(
    agents.bob.identity.did,
    agents.bob.identity.keys().map((key) => ({ ...key, expires: end })),
  );
  const { ann } = await agents.connect("hpke");
  expect(ann.expiresAt).toBe(end);
});
