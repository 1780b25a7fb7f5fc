import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expand, extract, sessionSecret } from "./key-schedule.js";
import { RecordError } from "./record-error.js";
import { type RecordProfile, SEALED_RECORDS } from "./record-profile.js";
import { SealedChannel } from "./sealed-channel.js";

interface Vectors {
  readonly agreed: string;
  readonly transcript: string;
  readonly secret: string;
  readonly cases: readonly {
    readonly cipher: RecordProfile["cipher"];
    readonly sender: "initiator" | "responder";
    readonly sequence: number;
    readonly plaintext: string;
    readonly associated: string;
    readonly record: string;
  }[];
}

/** Computed by `fixtures/make-vectors.py` with the Python package `cryptography`. */
const VECTORS: Vectors = JSON.parse(readFileSync(new URL("./fixtures/records.json", import.meta.url), "utf8"));
const SECRET = hex(VECTORS.secret);
const TRANSCRIPT = hex(VECTORS.transcript);
const NONE = new Uint8Array(0);
const START = 1_000_000;
const CIPHERS = ["aes-256-gcm", "chacha20-poly1305"] as const;

let nowMs = START;

function hex(text: string): Buffer {
  return Buffer.from(text, "hex");
}

function channel(role: "initiator" | "responder", change: Partial<RecordProfile> = {}, transcript: Uint8Array = TRANSCRIPT) {
  return new SealedChannel({ secret: SECRET, transcript, role, profile: { ...SEALED_RECORDS, ...change }, now: () => nowMs });
}

function pair(change: Partial<RecordProfile> = {}) {
  nowMs = START;
  return { ann: channel("initiator", change), bob: channel("responder", change) };
}

/** Why it is refused. What the peer is told must not depend on it. */
function problemOf(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof RecordError)) throw thrown;
    const told = thrown.code === "session_expired" ? "the sealed session has ended" : "the sealed record is refused";
    expect({ message: thrown.message, facts: thrown.facts }).toEqual({ message: told, facts: {} });
    return thrown.problem;
  }
  return "none";
}

describe("records that another implementation made", () => {
  it("have the same session secret", () => {
    expect(Buffer.from(sessionSecret(hex(VECTORS.agreed), TRANSCRIPT, "koine-session|1"))).toEqual(SECRET);
  });

  it("are the same bytes, and open", () => {
    expect(VECTORS.cases).toHaveLength(28);
    for (const { cipher, sender, sequence, plaintext, associated, record } of VECTORS.cases) {
      const receiver = sender === "initiator" ? "responder" : "initiator";
      const opened = channel(receiver, { cipher }).open(hex(record), hex(associated));
      expect(Buffer.from(opened).toString("hex")).toBe(plaintext);
      if (sequence > 1_024) continue;
      const from = channel(sender, { cipher });
      for (let skipped = 0; skipped < sequence; skipped++) from.seal(NONE, NONE);
      expect(Buffer.from(from.seal(hex(plaintext), hex(associated))).toString("hex")).toBe(record);
    }
  });
});

/** Public vectors of SAGE 0.10.0 (`hpke-schedule.json`, `session-records.json` of its inspector). */
describe("records of SAGE 0.10.0", () => {
  const th = hex("a4dcfbf2cfe2b3ffd09acd65fbb78c675612b93c93b512a11b9b064786ee5488");
  const seed = hex("a670cc6a4cf4eed950a26f2e85a185457e283ba617fd87da485625d96a2a61a6");
  const profile: RecordProfile = {
    ...SEALED_RECORDS,
    cipher: "chacha20-poly1305",
    labels: { record: "sage-record|0.10.0", initiatorKey: "sage-c2s-key|0.10.0", responderKey: "sage-s2c-key|0.10.0" },
    rekeyEvery: 256,
    records: 1_000,
  };
  const at = (role: "initiator" | "responder") =>
    new SealedChannel({ secret: seed, transcript: th, role, profile, now: () => START });

  it("have its key schedule", () => {
    const exporter = hex("a8de62cfb50aae8058d494a86b9420a9a04fbb5f19c4b25bda7c4cf251aa882c");
    const shared = hex("7cc2b7b281a0742951106c397572ff7ba1fc702a9fc46c9d8a0d984f52ed166f");
    const agreed = Buffer.concat([exporter, shared]);
    expect(Buffer.from(extract(th, agreed)).toString("hex")).toBe(
      "3e79ae6f17d0d4e5c4eb133d67c12a3d13f63e8ee5bca8053bdbc9c7460795c9",
    );
    expect(Buffer.from(sessionSecret(agreed, th, "sage-hpke-combiner|0.10.0"))).toEqual(seed);
    expect(Buffer.from(expand(seed, "sage-c2s-key|0.10.0", th, hex("0000000000000001"))).toString("hex")).toBe(
      "9b1f13889532013ee3c3f93841d1495521b235cf272b3136bc4831d6852ff8b9",
    );
  });

  it.each<["initiator" | "responder", number, string]>([
    [
      "initiator",
      0,
      "00000000000000000000000000000000000000000882116e879457582f3d127ea08eba98185f3bf0eef94b5ad246e724a9ea9cc763de56b152",
    ],
    [
      "initiator",
      256,
      "0000000000000100000000000000000000000100194a2be59494843f9388c1a9e6a316e465daa80d9e372995d566b007cd2a49599fb4c0a629",
    ],
    [
      "initiator",
      999,
      "00000000000003e70000000000000000000003e7a3889f4bcf0cb85ce69d3341691ac8aeb418b9544fe9498b9594d37d87fa5db2b351e1129f",
    ],
    [
      "responder",
      0,
      "0000000000000000000000000000000000000000f1557417e39f16176dfc2b21f48908774bd1131fb0e576ee96a77e36fdce1884c2734bdb97",
    ],
    [
      "responder",
      768,
      "00000000000003000000000000000000000003001cf9e46b9352d8c2df1bd2661e6ef7bfcea2303695099c36c4dc18d25689a174866f054475",
    ],
  ])("%s %i is the same bytes", (role, sequence, record) => {
    const from = at(role);
    for (let skipped = 0; skipped < sequence; skipped++) from.seal(NONE, NONE);
    expect(Buffer.from(from.seal(Buffer.from("public session record"), Buffer.from("{}"))).toString("hex")).toBe(record);
    const other = at(role === "initiator" ? "responder" : "initiator");
    expect(Buffer.from(other.open(hex(record), Buffer.from("{}"))).toString()).toBe("public session record");
    if (sequence === 999) expect(problemOf(() => from.seal(NONE, NONE))).toBe("exhausted");
  });
});

describe.each(CIPHERS)("a sealed channel with %s", (cipher) => {
  it("carries any message both ways, in any order within the window", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 40 })), { maxLength: 20 }),
        fc.nat(),
        (messages, seed) => {
          const { ann, bob } = pair({ cipher, rekeyEvery: 3 });
          for (const [from, to] of [
            [ann, bob],
            [bob, ann],
          ] as const) {
            const sent = messages.map(([plain, about]) => ({ plain, about, record: from.seal(plain, about) }));
            const shuffled = sent
              .map((each, index) => ({ each, key: (index * 7_919 + seed) % 101 }))
              .toSorted((a, b) => a.key - b.key);
            for (const { each } of shuffled)
              expect(Buffer.from(to.open(each.record, each.about))).toEqual(Buffer.from(each.plain));
            for (const { record, about } of sent) expect(problemOf(() => to.open(record, about))).toBe("replayed");
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("refuses every flipped bit and every shorter or longer record, and accepts the right one afterwards", () => {
    const { ann, bob } = pair({ cipher });
    const about = Buffer.from("m-1");
    const record = ann.seal(Buffer.from("hello"), about);
    for (let bit = 0; bit < record.length * 8; bit++) {
      const altered = Buffer.from(record);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(problemOf(() => bob.open(altered, about))).toBe(bit < 160 ? "malformed" : "wrong");
    }
    for (let length = 0; length < record.length; length++)
      expect(problemOf(() => bob.open(record.subarray(0, length), about))).toBe(length < 36 ? "truncated" : "wrong");
    expect(problemOf(() => bob.open(Buffer.concat([record, NONE, Uint8Array.of(0)]), about))).toBe("wrong");
    expect(Buffer.from(bob.open(record, about)).toString()).toBe("hello");
  });

  it("refuses other associated data, the other direction, another session and another number", () => {
    const { ann, bob } = pair({ cipher });
    const record = ann.seal(Buffer.from("hello"), Buffer.from("m-1"));
    expect(problemOf(() => bob.open(record, Buffer.from("m-2")))).toBe("wrong");
    expect(problemOf(() => bob.open(record, NONE))).toBe("wrong");
    expect(problemOf(() => ann.open(record, Buffer.from("m-1")))).toBe("wrong");
    expect(problemOf(() => channel("responder", { cipher }, Buffer.alloc(32, 1)).open(record, Buffer.from("m-1")))).toBe("wrong");
    const renumbered = Buffer.from(record);
    renumbered[7] = 1;
    renumbered[19] = 1;
    expect(problemOf(() => bob.open(renumbered, Buffer.from("m-1")))).toBe("wrong");
    const other = cipher === "aes-256-gcm" ? "chacha20-poly1305" : "aes-256-gcm";
    expect(problemOf(() => channel("responder", { cipher: other }).open(record, Buffer.from("m-1")))).toBe("wrong");
  });

  it("binds the length of the associated data: no byte moves from one to the other", () => {
    const { ann, bob } = pair({ cipher });
    const record = ann.seal(Buffer.from("b"), Buffer.from("a"));
    expect(problemOf(() => bob.open(record, Buffer.from("ab")))).toBe("wrong");
  });
});

describe("the limits of a sealed channel", () => {
  it("has a window: older records are stale, a forged number moves nothing", () => {
    const { ann, bob } = pair({ window: 4 });
    const records = Array.from({ length: 7 }, () => ann.seal(NONE, NONE));
    const open = (at: number) => problemOf(() => bob.open(records[at] ?? NONE, NONE));
    const forged = Buffer.from(records[0] ?? NONE);
    forged.writeUInt32BE(900_000, 4);
    forged.writeUInt32BE(900_000, 16);
    expect(problemOf(() => bob.open(forged, NONE))).toBe("wrong");
    expect([open(5), open(2), open(2), open(1), open(5), open(6), open(2), open(3), open(4)]).toEqual([
      "none",
      "none",
      "replayed",
      "stale",
      "replayed",
      "none",
      "stale",
      "none",
      "none",
    ]);
  });

  it("keeps to the order if there is no window", () => {
    const { ann, bob } = pair({ window: 0 });
    const [first = NONE, second = NONE, third = NONE] = Array.from({ length: 3 }, () => ann.seal(NONE, NONE));
    expect(problemOf(() => bob.open(second, NONE))).toBe("reordered");
    bob.open(first, NONE);
    expect(problemOf(() => bob.open(first, NONE))).toBe("replayed");
    expect(problemOf(() => bob.open(third, NONE))).toBe("reordered");
    bob.open(second, NONE);
    bob.open(third, NONE);
  });

  it("never uses a number twice and ends with the last one", () => {
    const { ann, bob } = pair({ records: 3, rekeyEvery: 2 });
    const records = [ann.seal(NONE, NONE), ann.seal(NONE, NONE), ann.seal(NONE, NONE)];
    expect(new Set(records.map((record) => Buffer.from(record.subarray(0, 20)).toString("hex"))).size).toBe(3);
    expect(ann.remaining).toBe(0);
    expect(problemOf(() => ann.seal(NONE, NONE))).toBe("exhausted");
    for (const record of records) bob.open(record, NONE);
    const beyond = Buffer.from(records[0] ?? NONE);
    beyond[7] = 3;
    beyond[19] = 3;
    expect(problemOf(() => bob.open(beyond, NONE))).toBe("out_of_range");
    beyond.fill(255, 0, 8);
    beyond.fill(255, 12, 20);
    expect(problemOf(() => bob.open(beyond, NONE))).toBe("out_of_range");
  });

  it("uses up a number also for a message that is too large for the wire, but not for one that is refused", () => {
    const { ann } = pair({ recordBytes: 4, associatedBytes: 4 });
    expect(problemOf(() => ann.seal(Buffer.alloc(5), NONE))).toBe("too_large");
    expect(problemOf(() => ann.seal(NONE, Buffer.alloc(5)))).toBe("too_large");
    expect(Buffer.from(ann.seal(Buffer.alloc(4), Buffer.alloc(4)).subarray(0, 8)).readBigUInt64BE()).toBe(0n);
  });

  it("refuses a record that is too large without decrypting it", () => {
    const { ann } = pair();
    const record = ann.seal(Buffer.alloc(5), NONE);
    expect(problemOf(() => channel("responder", { recordBytes: 4 }).open(record, NONE))).toBe("too_large");
  });

  it("expires at the end of its life, and when it is idle, also for what arrives", () => {
    const { ann, bob } = pair({ idleMs: 100, lifetimeMs: 250 });
    const early = ann.seal(NONE, NONE);
    nowMs += 99;
    bob.open(early, NONE);
    expect(problemOf(() => bob.open(early, NONE))).toBe("replayed");
    nowMs += 99;
    const late = bob.seal(NONE, NONE);
    expect([bob.isOpen, ann.isOpen]).toEqual([true, false]);
    expect(problemOf(() => ann.open(late, NONE))).toBe("expired");
    expect(ann.remaining).toBe(0);
    expect(problemOf(() => ann.seal(NONE, NONE))).toBe("closed");
    nowMs = START + 250;
    expect(problemOf(() => bob.seal(NONE, NONE))).toBe("expired");
  });

  it("a refused record does not keep a session alive", () => {
    const { ann, bob } = pair({ idleMs: 100 });
    const record = Buffer.from(ann.seal(NONE, NONE));
    record[30] = (record[30] ?? 0) ^ 1;
    nowMs += 60;
    expect(problemOf(() => bob.open(record, NONE))).toBe("wrong");
    nowMs += 40;
    expect(problemOf(() => bob.seal(NONE, NONE))).toBe("expired");
  });

  it("ends when it is closed, shows nothing, and refuses secrets of the wrong length", () => {
    const { ann } = pair();
    expect(ann.isOpen).toBe(true);
    ann.close();
    expect(ann.isOpen).toBe(false);
    expect(problemOf(() => ann.seal(NONE, NONE))).toBe("closed");
    expect(problemOf(() => ann.open(Buffer.alloc(40), NONE))).toBe("closed");
    expect(JSON.stringify(ann)).toBe("{}");
    expect(inspect(ann, { showHidden: true, depth: 9 })).not.toContain(VECTORS.secret.slice(0, 8));
    const short = { secret: SECRET.subarray(1), transcript: TRANSCRIPT, role: "initiator" as const, profile: SEALED_RECORDS };
    expect(() => new SealedChannel({ ...short, now: () => 0 })).toThrow("32 bytes");
  });
});
