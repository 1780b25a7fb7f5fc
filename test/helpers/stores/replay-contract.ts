import { describe, expect, test } from "vitest";
import type { ReplayGuard, ReplayLimits } from "../../../src/envelope/index.js";

/** What every replay guard does. `open` begins with an empty one; all times are those of `now`. */
export interface GuardUnderTest {
  /** One guard, or several over the same memory, as replicas have them. */
  open(limits: ReplayLimits, now: () => number): Promise<readonly ReplayGuard[]>;
}

const START = Date.parse("2026-03-01T12:00:00Z");
const UNTIL = START + 330_000;
const FROM = START - 30_000;
const ROOMY: ReplayLimits = { replayEntries: 1_000, replayEntriesPerSigner: 500 };

export function describeReplayGuard(name: string, { open }: GuardUnderTest): void {
  describe(`${name}: a replay guard`, () => {
    test("accepts a nonce once per signer", async () => {
      const [guard, other = guard] = await open(ROOMY, () => START);
      if (guard === undefined || other === undefined) throw new Error("no guard");
      expect(guard.seen("ann", "n1")).toBe(false);
      expect(await guard.add("ann", "n1", UNTIL, FROM)).toBe(true);
      expect(guard.seen("ann", "n1")).toBe(true);
      expect(await guard.add("ann", "n1", UNTIL, FROM)).toBe(false);
      expect(await other.add("ann", "n1", UNTIL, FROM)).toBe(false);
      expect(await other.add("bob", "n1", UNTIL, FROM)).toBe(true);
      expect(await other.add("ann", "n2", UNTIL, FROM)).toBe(true);
    });

    test("of 50 equal nonces at once lets one pass", async () => {
      const guards = await open(ROOMY, () => START);
      const added = await Promise.all(
        Array.from({ length: 50 }, (_, at) => Promise.resolve(guards[at % guards.length]?.add("ann", "same", UNTIL, FROM))),
      );
      expect(added.filter((is) => is === true)).toHaveLength(1);
      expect(added.filter((is) => is === false)).toHaveLength(49);
    });

    test("tells any signers and nonces apart", async () => {
      const [guard] = await open(ROOMY, () => START);
      const long = "x".repeat(300);
      const pairs = [
        ["a", "bc"],
        ["ab", "c"],
        ["a\u0000b", "c"],
        ["a", "b\u0000c"],
        ["", ""],
        ["did:web:example.com#k'1", 'n"\\'],
        ["ä", "\ud800"],
        [long, long],
        [long, `${long}y`],
      ] as const;
      for (const [signer, nonce] of pairs) expect(await guard?.add(signer, nonce, UNTIL, FROM)).toBe(true);
      for (const [signer, nonce] of pairs) expect(await guard?.add(signer, nonce, UNTIL, FROM)).toBe(false);
    });

    test("forgets a nonce only when its message is no longer valid", async () => {
      let nowMs = START;
      const [guard] = await open(ROOMY, () => nowMs);
      await guard?.add("ann", "n", UNTIL, FROM);
      nowMs = UNTIL;
      expect(await guard?.add("ann", "n", UNTIL, FROM)).toBe(false);
      nowMs = UNTIL + 2_000;
      expect(guard?.seen("ann", "n")).toBe(false);
      expect(await guard?.add("ann", "n", nowMs + 1_000, nowMs)).toBe(true);
    });

    test("refuses when full, forgets nothing that is valid, and has room again later", async () => {
      let nowMs = START;
      const [guard] = await open({ replayEntries: 20, replayEntriesPerSigner: 15 }, () => nowMs);
      const add = async (signer: string, nonce: string) => guard?.add(signer, nonce, nowMs + 60_000, nowMs);
      for (let n = 0; n < 15; n++) expect(await add("ann", `n${n}`)).toBe(true);
      await expect(add("ann", "one more")).rejects.toMatchObject({ code: "overloaded" });
      for (let n = 0; n < 5; n++) expect(await add("bob", `n${n}`)).toBe(true);
      await expect(add("cid", "one more")).rejects.toMatchObject({ code: "overloaded" });
      for (let n = 0; n < 15; n++) expect(await add("ann", `n${n}`)).toBe(false);
      nowMs += 62_000;
      for (let n = 0; n < 15; n++) expect(await add("ann", `n${n}`)).toBe(true);
      expect(await add("cid", "n")).toBe(true);
    });

    test("after a long silence clears what ended at any time", async () => {
      let nowMs = START;
      const [guard] = await open({ replayEntries: 300, replayEntriesPerSigner: 300 }, () => nowMs);
      for (let n = 0; n < 300; n++) await guard?.add("ann", `n${n}`, nowMs + ((n * 7_919) % 300) * 1_000, nowMs);
      nowMs += 86_400_000;
      for (let n = 0; n < 300; n++) expect(await guard?.add("ann", `n${n}`, nowMs + 1_000, nowMs)).toBe(true);
    });
  });
}
