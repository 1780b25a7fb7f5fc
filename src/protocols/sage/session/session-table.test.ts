import { describe, expect, test } from "vitest";
import { sha256 } from "../../../security/hashes.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { SageSession, SessionError, type SessionReason, SessionTable, type SessionTableLimits } from "./index.js";

const START = Date.parse("2026-11-17T12:00:00Z");
const NONE = new Uint8Array(0);
const [ANN, BOB, EVE] = ["did:sage:local:0xa", "did:sage:local:0xb", "did:sage:local:0xe"];
const ENDS = { ownDid: ANN, peerDid: BOB };
const KEY: PublicKey = { id: `${BOB}#key-2`, kind: "Ed25519", bytes: new Uint8Array(32), uses: ["authentication"] };

class Stage {
  nowMs = START;
  handshakes = 0;
  readonly table: SessionTable;

  constructor(limits: Partial<SessionTableLimits> = {}) {
    this.table = new SessionTable({ limits, now: () => this.nowMs });
  }

  session(keyId = `k${++this.handshakes}`, ends = ENDS, role: "initiator" | "responder" = "initiator"): SageSession {
    return new SageSession({
      secret: sha256(keyId),
      transcript: sha256(`transcript of ${keyId}`),
      role,
      keyId,
      ...ends,
      pinned: [KEY],
      pendingMs: 300_000,
      now: () => this.nowMs,
    });
  }

  readonly establish = async (): Promise<SageSession> => this.session();

  obtain(): Promise<SageSession> {
    return this.table.obtain(ENDS, this.establish);
  }
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

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("sessions to send with", () => {
  test("are made once for all who wait, and used again", async () => {
    const stage = new Stage();
    const sessions = await Promise.all(Array.from({ length: 50 }, () => stage.obtain()));
    expect([new Set(sessions).size, stage.handshakes, stage.table.size]).toEqual([1, 1, 1]);
    expect(await stage.obtain()).toBe(sessions[0]);
    await stage.table.obtain({ ownDid: EVE, peerDid: BOB }, async () => stage.session("other", { ownDid: EVE, peerDid: BOB }));
    expect(stage.table.size).toBe(2);
  });

  test("are not made of a failure, which all who wait get", async () => {
    const stage = new Stage();
    const failing = () => stage.table.obtain(ENDS, () => Promise.reject(new Error("refused")));
    const results = await Promise.allSettled([failing(), failing()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await stage.obtain()).toBeInstanceOf(SageSession);
  });

  test("are prepared at 80 % of a limit while the old one is used", async () => {
    const stage = new Stage();
    const first = await stage.obtain();
    for (let count = 0; count < 800; count++) first.encrypt(NONE, NONE);
    const [one, two] = await Promise.all([stage.obtain(), stage.obtain()]);
    expect([one, two]).toEqual([first, first]);
    await settled();
    expect(stage.handshakes).toBe(2);
    const next = await stage.obtain();
    expect([next === first, next.isUsable, first.isUsable]).toEqual([false, true, true]);
  });

  test("are prepared again only after a while, if that failed", async () => {
    const stage = new Stage();
    const first = await stage.obtain();
    for (let count = 0; count < 800; count++) first.encrypt(NONE, NONE);
    let tries = 0;
    const failing = () => stage.table.obtain(ENDS, () => Promise.reject(new Error(`try ${++tries}`)));
    for (const waited of [0, 9_999, 1]) {
      stage.nowMs += waited;
      expect(await failing()).toBe(first);
      await settled();
    }
    expect(tries).toBe(2);
  });

  test("that have sent all they may are replaced, and still read the answers under way", async () => {
    const stage = new Stage();
    const first = await stage.obtain();
    const peer = stage.session(first.keyId, { ownDid: BOB, peerDid: ANN }, "responder");
    for (let count = 0; count < 1_000; count++) peer.decrypt(first.encrypt(NONE, NONE), NONE);
    const answer = peer.encrypt(Buffer.from("late"), NONE);
    expect(await stage.obtain()).not.toBe(first);
    expect(Buffer.from(first.decrypt(answer, NONE)).toString()).toBe("late");
    expect(stage.table.find(ENDS, first.keyId)).toBe(first);
  });

  test("22: a session that has ended is replaced or is an error, never left out", async () => {
    const stage = new Stage();
    const first = await stage.obtain();
    stage.nowMs += 600_000;
    await expect(stage.table.obtain(ENDS, () => Promise.reject(new Error("unreachable")))).rejects.toThrow("unreachable");
    expect(await stage.obtain()).not.toBe(first);
    expect(reasonOf(() => first.encrypt(NONE, NONE))).toBe("session.closed");
  });
});

describe("sessions to receive with", () => {
  test("are found by both DIDs and the key id only", () => {
    const stage = new Stage();
    const session = stage.session("k", ENDS, "responder");
    stage.table.add(session);
    expect(stage.table.find(ENDS, "k")).toBe(session);
    expect(reasonOf(() => stage.table.find(ENDS, "other"))).toBe("session.unknown");
    expect(reasonOf(() => stage.table.find({ ownDid: ANN, peerDid: EVE }, "k"))).toBe("session.unknown");
    expect(reasonOf(() => stage.table.find({ ownDid: EVE, peerDid: BOB }, "k"))).toBe("session.unknown");
    stage.nowMs += 300_000;
    expect(reasonOf(() => stage.table.find(ENDS, "k"))).toBe("session.expired");
    expect(reasonOf(() => stage.table.find(ENDS, "k"))).toBe("session.unknown");
    expect(stage.table.size).toBe(0);
  });

  test("a peer that chooses the key id of another session changes nothing", () => {
    const stage = new Stage();
    const session = stage.session("k");
    stage.table.add(session);
    expect(() => stage.table.add(stage.session("k"))).toThrow(expect.objectContaining({ code: "overloaded" }));
    expect(stage.table.find(ENDS, "k")).toBe(session);
  });

  test("14: a message in clear is refused while a session is in use", () => {
    const stage = new Stage();
    expect(reasonOf(() => stage.table.refuseClear(ENDS))).toBe("none");
    const session = stage.session("k", ENDS, "responder");
    stage.table.add(session);
    // Nobody has proved to have its keys.
    expect(reasonOf(() => stage.table.refuseClear(ENDS))).toBe("none");
    session.confirm();
    expect(reasonOf(() => stage.table.refuseClear(ENDS))).toBe("policy_denied");
    expect(() => stage.table.refuseClear(ENDS)).toThrow(
      expect.objectContaining({ name: "ErrDowngradeRefused", code: "downgrade_refused" }),
    );
    expect(reasonOf(() => stage.table.refuseClear({ ownDid: ANN, peerDid: EVE }))).toBe("none");
    session.close();
    expect(reasonOf(() => stage.table.refuseClear(ENDS))).toBe("none");
  });
});

describe("the limits of a table", () => {
  test("a peer replaces its own oldest session", () => {
    const stage = new Stage({ sessionsPerPeer: 2 });
    const sessions = ["1", "2", "3"].map((keyId) => stage.session(keyId, ENDS, "responder"));
    for (const session of sessions) stage.table.add(session);
    expect(sessions.map(({ isUsable }) => isUsable)).toEqual([false, true, true]);
    expect(stage.table.size).toBe(2);
  });

  test("a full table refuses, and makes room of what has ended", () => {
    const stage = new Stage({ sessions: 2 });
    const of = (peerDid: string) => stage.session("k", { ownDid: ANN, peerDid }, "responder");
    stage.table.add(of(BOB));
    stage.table.add(of(EVE));
    const third = of("did:sage:local:0xf");
    expect(() => stage.table.add(third)).toThrow(
      expect.objectContaining({ code: "overloaded", facts: { detail: { reason: "session.full" } } }),
    );
    expect([third.isUsable, stage.table.size]).toEqual([false, 2]);
    stage.nowMs += 300_000;
    stage.table.add(of("did:sage:local:0xf"));
    expect(stage.table.size).toBe(1);
  });

  test("a handshake that finds a full table fails", async () => {
    const stage = new Stage({ sessions: 0 });
    await expect(stage.obtain()).rejects.toThrow("no further session");
  });
});

describe("the end of a table", () => {
  test("16: a key that was revoked, changed or deactivated closes the sessions pinned to it", async () => {
    const stage = new Stage();
    const session = await stage.obtain();
    stage.table.checkKeys(BOB, [KEY, { ...KEY, id: `${BOB}#key-9` }]);
    stage.table.checkKeys(EVE, []);
    expect(await stage.obtain()).toBe(session);
    stage.table.checkKeys(BOB, [{ ...KEY, bytes: new Uint8Array(32).fill(1) }]);
    expect(reasonOf(() => session.encrypt(NONE, NONE))).toBe("key.revoked");
    const next = await stage.obtain();
    expect(next).not.toBe(session);
    stage.table.checkKeys(BOB, []);
    expect([reasonOf(() => next.sign(NONE)), stage.table.size]).toEqual(["key.revoked", 0]);
  });

  test("closes all sessions, those under way too", async () => {
    const stage = new Stage();
    const session = await stage.obtain();
    let finish: (made: SageSession) => void = () => undefined;
    const under = stage.table.obtain({ ownDid: ANN, peerDid: EVE }, () => new Promise((resolve) => (finish = resolve)));
    stage.table.close();
    const late = stage.session("late", { ownDid: ANN, peerDid: EVE });
    finish(late);
    await expect(under).rejects.toThrow(expect.objectContaining({ reason: "session.closed" }));
    await expect(stage.obtain()).rejects.toThrow(expect.objectContaining({ reason: "session.closed" }));
    expect([session.isUsable, late.isUsable, stage.table.size]).toEqual([false, false, 0]);
  });
});
