import { describe, expect, test } from "vitest";
import { SessionQueue } from "./session-queue.js";

describe("the queue of a session", () => {
  test("returns messages in order, however reading and receiving alternate", async () => {
    const queue = new SessionQueue(1_000_000, () => undefined);
    const read: unknown[] = [];
    let next = 0;
    for (let round = 0; round < 40; round++) {
      for (let count = 0; count < 37; count++) queue.push(String(next++), 4);
      for (let count = 0; count < 31; count++) read.push((await queue.next()).value);
    }
    queue.end();
    for await (const frame of queue) read.push(frame);
    expect(read).toEqual(Array.from({ length: next }, (_, index) => String(index)));
    expect(queue.bytes).toBe(0);
  });

  test("is full above its limit, empty messages included, and reports room at half of it", async () => {
    let rooms = 0;
    const queue = new SessionQueue(640, () => rooms++);
    for (let count = 0; count < 10; count++) queue.push("", 0);
    expect([queue.bytes, queue.isFull]).toEqual([640, false]);
    queue.push("", 0);
    expect([queue.bytes, queue.isFull]).toEqual([704, true]);
    for (let count = 0; count < 5; count++) await queue.next();
    expect(rooms).toBe(0);
    await queue.next();
    expect([queue.bytes, rooms]).toEqual([320, 1]);
  });

  test("a reader that waits gets the message itself; nothing is queued", async () => {
    const queue = new SessionQueue(10, () => undefined);
    const waiting = queue.next();
    expect(queue.hasReader).toBe(true);
    queue.push("x".repeat(100), 100);
    expect([queue.hasReader, queue.bytes, queue.isFull]).toEqual([false, 0, false]);
    expect(await waiting).toEqual({ done: false, value: "x".repeat(100) });
  });

  test("shows what is not read yet", async () => {
    const queue = new SessionQueue(1_000, () => undefined);
    for (const [index, frame] of ["a", "b", "c"].entries()) queue.push(frame, index);
    await queue.next();
    const seen: unknown[] = [];
    queue.visit((frame, bytes) => seen.push([frame, bytes]));
    expect(seen).toEqual([
      ["b", 1],
      ["c", 2],
    ]);
  });
});
