import { AgentError, type Records } from "../../envelope/index.js";

const LOCK = "lock";
/** A process that dies while it holds the lock loses it after this. */
const LOCK_MS = 10_000;
/** What was read longer ago than this is read again: the lock may pass to another process soon. */
const FRESH_MS = LOCK_MS / 2;
/** The wait for a lock grows up to this. */
const LONGEST_WAIT_MS = 50;
/** Several holders may die one after the other; a store without an end to that fails. */
const GIVE_UP_MS = 6 * LOCK_MS;

/**
 * Runs `prepare` and the write that it returns while no other process on these records does. A store has no transaction over two
 * records, but adding one that exists fails: that record is the lock.
 */
export async function writingAlone(records: Records, prepare: () => Promise<() => Promise<void>>): Promise<void> {
  const begun = performance.now();
  for (let attempt = 1; performance.now() - begun < GIVE_UP_MS; attempt++) {
    const lockedAt = performance.now();
    if ((await records.add(LOCK, {}, LOCK_MS)) !== undefined) {
      await sleep(Math.min(attempt, LONGEST_WAIT_MS));
      continue;
    }
    const isOurs = (): boolean => performance.now() - lockedAt < FRESH_MS;
    try {
      const write = await prepare();
      if (!isOurs()) continue;
      return await write();
    } finally {
      // After a long wait it may be another's: it then ends by itself.
      if (isOurs()) await records.delete(LOCK);
    }
  }
  throw new AgentError("unavailable", "another process holds the lock of the evidence");
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
