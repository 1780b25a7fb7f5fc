import { expect, test } from "vitest";
import { createIdentity } from "../../../security/identity/index.js";
import { keepPrepared, takePrepared } from "./prepared-sessions.js";
import { SageSession } from "./session.js";

const [ANN, EVE, BOB] = ["did:sage:local:0xa", "did:sage:local:0xe", "did:sage:local:0xb"] as const;
const identity = () => createIdentity({ name: "ann", did: "did:web:ann.example" });
const sessionWith = (peerDid: string, clock = { now: 0 }): SageSession =>
  new SageSession({
    ...{ secret: new Uint8Array(32).fill(1), transcript: new Uint8Array(32).fill(2), role: "initiator", keyId: "k" },
    ...{ ownDid: ANN, peerDid, pinned: [], pendingMs: 1_000, now: () => clock.now },
  });

test("a prepared session is taken once, for its agent, its form and by its identity", () => {
  const [ann, other] = [identity(), identity()];
  const session = sessionWith(BOB);
  keepPrepared(ann, "hpke", session);
  expect(takePrepared(ann, "hpke", EVE)).toBeUndefined();
  expect(takePrepared(ann, "four-phase", BOB)).toBeUndefined();
  expect(takePrepared(other, "hpke", BOB)).toBeUndefined();
  expect(takePrepared(ann, "hpke", BOB)).toBe(session);
  expect(takePrepared(ann, "hpke", BOB)).toBeUndefined();
});

test("one that nobody took is closed by the next, and one that has ended is not taken", () => {
  const ann = identity();
  const clock = { now: 0 };
  const [first, second] = [sessionWith(BOB), sessionWith(BOB, clock)];
  keepPrepared(ann, "hpke", first);
  keepPrepared(ann, "hpke", second);
  expect([first.isOpen, second.isOpen]).toEqual([false, true]);
  clock.now = 24 * 3_600_000;
  expect(takePrepared(ann, "hpke", BOB)).toBeUndefined();
});
