import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../src/index.js";
import { writingAlone } from "../../src/router/bandit/write-lock.js";

const LOCK = "lock";
/** How long a lock holds, as documented. */
const LOCK_MS = 10_000;

function recordsAt(clock: { now: number }) {
  return createMemoryStore({ now: () => clock.now }).records;
}

describe("writingAlone()", () => {
  it("writes one after the other, each with what the one before has written", async () => {
    const records = recordsAt({ now: 0 });
    const increment = (): Promise<void> =>
      writingAlone(records, async () => {
        const { count = 0 } = (await records.get("sum")) ?? {};
        return () => records.put("sum", { count: Number(count) + 1 });
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    expect(await records.get("sum")).toEqual({ count: 20 });
    expect(await records.get(LOCK)).toBeUndefined();
  });

  it("waits for a lock whose holder died, until it expires", async () => {
    const clock = { now: 0 };
    const records = recordsAt(clock);
    await records.add(LOCK, {}, LOCK_MS);
    const written: number[] = [];
    const writing = writingAlone(records, async () => async () => void written.push(clock.now));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(written).toEqual([]);
    clock.now = LOCK_MS + 1;
    await writing;
    expect(written).toEqual([LOCK_MS + 1]);
  });

  it("leaves no lock behind where reading or writing fails", async () => {
    const records = recordsAt({ now: 0 });
    const failure = new Error("no");
    await expect(writingAlone(records, () => Promise.reject(failure))).rejects.toBe(failure);
    await expect(writingAlone(records, async () => () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await records.get(LOCK)).toBeUndefined();
  });
});
