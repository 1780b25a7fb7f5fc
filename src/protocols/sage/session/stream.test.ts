import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../security/hashes.js";
import { SageSession, SessionError, type SessionReason } from "./index.js";

const START = Date.parse("2026-11-17T12:00:00Z");
let nowMs = START;

function pair(): { readonly ann: SageSession; readonly bob: SageSession } {
  nowMs = START;
  const [ANN, BOB] = ["did:sage:local:0xa", "did:sage:local:0xb"];
  const start = {
    secret: sha256("secret"),
    transcript: sha256("transcript"),
    keyId: "k",
    pinned: [],
    pendingMs: 300_000,
    now: () => nowMs,
  };
  const ann = new SageSession({ ...start, role: "initiator", ownDid: ANN, peerDid: BOB });
  const bob = new SageSession({ ...start, role: "responder", ownDid: BOB, peerDid: ANN });
  bob.confirm();
  return { ann, bob };
}

function reasonOf(run: () => unknown): SessionReason | "none" {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown;
    return thrown.reason;
  }
  return "none";
}

const text = (some: string): Buffer => Buffer.from(some);

describe("a stream in a session", () => {
  test("carries any events in order, and its end", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 20 }), fc.boolean(), (events, fromAnn) => {
        const { ann, bob } = pair();
        const [from, to] = fromAnn ? [ann, bob] : [bob, ann];
        const writer = from.openStream();
        const reader = to.readStream(writer.id);
        for (const event of events) {
          const { event: read, last } = reader.read(writer.write(event));
          expect([Buffer.from(read), last]).toEqual([Buffer.from(event), false]);
        }
        expect(reader.read(writer.end(text("bye")))).toEqual({ event: text("bye"), last: true });
        reader.finish();
      }),
      { numRuns: 30, seed: 20 },
    );
  });

  test("has more events than a session has records, and does not use those up", () => {
    const { ann, bob } = pair();
    const writer = bob.openStream();
    const reader = ann.readStream(writer.id);
    for (let count = 0; count < 1_500; count++) reader.read(writer.write(text(`${count}`)));
    expect(bob.isNearEnd).toBe(false);
    expect(reader.read(writer.end()).last).toBe(true);
  });

  test("without its last record is cut", () => {
    const { ann, bob } = pair();
    const writer = bob.openStream();
    const reader = ann.readStream(writer.id);
    reader.read(writer.write(text("one")));
    expect(reasonOf(() => reader.finish())).toBe("stream.cut");
    expect(reasonOf(() => reader.read(writer.write(text("two"))))).toBe("session.closed");
  });

  test("refuses what is missing, repeated, altered, of another stream, or after the end", () => {
    const { ann, bob } = pair();
    const [one, other] = [bob.openStream(), bob.openStream()];
    const reader = ann.readStream(one.id);
    const [first, second, third] = [one.write(text("1")), one.write(text("2")), one.end()];
    expect(reasonOf(() => reader.read(second))).toBe("stream.order");
    expect(reasonOf(() => reader.read(other.write(text("1"))))).toBe("session.aead");
    expect(reasonOf(() => reader.read(ann.openStream(one.id).write(text("1"))))).toBe("session.aead");
    expect(reasonOf(() => reader.read(bob.encrypt(text("1"), text(""))))).toBe("session.aead");
    expect(reasonOf(() => reader.read(first, text("other data")))).toBe("session.aead");
    reader.read(first);
    expect(reasonOf(() => reader.read(first))).toBe("session.replay");
    reader.read(second);
    reader.read(third);
    expect(reasonOf(() => reader.read(third))).toBe("session.closed");
    expect(reasonOf(() => one.write(text("3")))).toBe("session.closed");
    reader.finish();
  });

  test("is read once, has an id of 16 bytes, and ends with its session", () => {
    const { ann, bob } = pair();
    const writer = bob.openStream();
    const reader = ann.readStream(writer.id);
    expect(reasonOf(() => ann.readStream(writer.id))).toBe("stream.id");
    expect(reasonOf(() => bob.openStream(writer.id))).toBe("stream.id");
    for (const id of ["", "AAAA", "AAAAAAAAAAAAAAAAAAAAAB", `${"A".repeat(22)}==`])
      expect(() => ann.readStream(id)).toThrow(expect.objectContaining({ code: "invalid_message" }));
    bob.close();
    ann.close("key.revoked");
    expect(reasonOf(() => writer.write(text("late")))).toBe("session.closed");
    expect(reasonOf(() => reader.read(new Uint8Array(40)))).toBe("session.closed");
    expect(reasonOf(() => ann.openStream())).toBe("key.revoked");
  });

  test("opens nothing that is made up", () => {
    const { ann, bob } = pair();
    const reader = ann.readStream(bob.openStream().id);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (made) => {
        expect(["session.aead", "session.window", "stream.order"]).toContain(reasonOf(() => reader.read(made)));
      }),
      { numRuns: 200, seed: 20 },
    );
  });

  test("there are at most a thousand of them", () => {
    const { ann } = pair();
    for (let count = 0; count < 1_000; count++) ann.openStream();
    expect(reasonOf(() => ann.openStream())).toBe("session.exhausted");
  });
});
