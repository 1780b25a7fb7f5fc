import { type Slice, startTally, type Window } from "./tally.js";

/** Closed loop over any asynchronous call, `concurrency` of them at a time. The number given to each call never repeats. */
export async function runLoopLoad(one: (number: number) => Promise<void>, concurrency: number, window: Window): Promise<Slice> {
  const tally = startTally(window, () => performance.now());
  const loop = async () => {
    for (let sentAt = performance.now(); tally.open(); ) {
      await one(nextNumber++);
      sentAt = tally.record(sentAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return tally.slice();
}

let nextNumber = 1;
