import { expect, it } from "vitest";
import { drive, type LoadParts } from "./load.js";

it("loads the next batch when every entry of the last one has ended", async () => {
  const open = new Set<number>();
  const seen: (readonly number[])[] = [];
  let now = 0;
  const parts: LoadParts = {
    now: () => now++,
    seed: 1,
    batch: 3,
    mayEnd: () => true,
    drop: () => undefined,
    async send(seq) {
      open.add(seq);
      seen.push([...open].sort((a, b) => a - b));
      // The later of a batch end first.
      for (let turn = 0; turn < 10 - seq; turn++) await Promise.resolve();
      open.delete(seq);
    },
  };
  await drive({ loop: "closed", clients: 8 }, { phase: "measure", forMs: 1_000, requests: 7 }, parts);
  expect(seen).toEqual([[0], [0, 1], [0, 1, 2], [3], [3, 4], [3, 4, 5], [6]]);
});
