import { describe, expect, test } from "vitest";
import { type Flushable, flushLater } from "./flush-later.js";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * A stream that is written to once in each turn, and notes how many chunks each flush sends. Like an agent, it is queued for the next turn
 * before its chunk is written.
 */
function writtenEveryTurn(turns: number): { readonly sent: number[]; readonly done: Promise<void> } {
  const sent: number[] = [];
  let held = 0;
  const stream: Flushable = {
    flush: () => {
      sent.push(held);
      held = 0;
    },
  };
  const write = async () => {
    let next = turn();
    for (let written = 0; written < turns; written++) {
      await next;
      next = turn();
      held += 1;
      if (held === 1) flushLater(stream);
    }
    // The last flush.
    await turn();
    await turn();
  };
  return { sent, done: write() };
}

describe("flushLater", () => {
  test("sends two turns of a stream at once, however many streams there are", async () => {
    const streams = Array.from({ length: 5 }, () => writtenEveryTurn(6));
    await Promise.all(streams.map(({ done }) => done));
    expect(streams.map(({ sent }) => sent)).toEqual(Array.from({ length: 5 }, () => [2, 2, 2]));
  });

  test("flushes within two turns, also while each turn brings another stream", async () => {
    const waited: number[] = [];
    let turns = 0;
    const last = new Promise<void>((resolve) => {
      const next = () => {
        const from = turns++;
        if (turns < 20) setImmediate(next);
        flushLater({
          flush: () => {
            waited.push(turns - from);
            if (waited.length === 10) resolve();
          },
        });
      };
      next();
    });
    await last;
    // Its own turn, and two more.
    expect(Math.max(...waited)).toBeLessThanOrEqual(3);
  });
});
