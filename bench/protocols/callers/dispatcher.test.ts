import { expect, it } from "vitest";
import { inTurn, ownQueues, sharedQueue } from "./dispatcher.js";

it("gives requests to agents in turn, busy or not", async () => {
  const turns = inTurn(["a", "b"]);
  expect(await Promise.all([0, 1, 2, 3].map((seq) => turns.take(seq)))).toEqual(["a", "b", "a", "b"]);
});

it("gives the next request of a shared queue to the agent that is free first", async () => {
  const queue = sharedQueue(["a", "b"]);
  const got: string[] = [];
  const take = (seq: number) => queue.take(seq).then((agent) => got.push(`${seq}${agent}`));
  const first = [take(0), take(1)];
  const later = [take(2), take(3), take(4)];
  await Promise.all(first);
  expect(got).toEqual(["0a", "1b"]);
  // b is fast: it takes what a would have got by turns.
  queue.release("b");
  await later[0];
  queue.release("b");
  await later[1];
  queue.release("a");
  await later[2];
  expect(got).toEqual(["0a", "1b", "2b", "3b", "4a"]);
});

it("gives an agent as many requests of a shared queue at a time as it may have, to each one first", async () => {
  const queue = sharedQueue(["a", "b"], 2);
  const got = await Promise.all([0, 1, 2, 3].map((seq) => queue.take(seq)));
  expect(got).toEqual(["a", "b", "a", "b"]);
  const next = queue.take(4);
  queue.release("b");
  expect(await next).toBe("b");
});

it("lets every idle agent work, with fewer requests in flight than agents", async () => {
  const queue = sharedQueue(["a", "b", "c"]);
  const got: string[] = [];
  for (let seq = 0; seq < 6; seq++) {
    const agent = await queue.take(seq);
    got.push(agent);
    queue.release(agent);
  }
  expect(got.join("")).toBe("abcabc");
});

it("makes an entry wait for the agent of its number, even if another is idle", async () => {
  const queues = ownQueues(["a", "b"]);
  const got: string[] = [];
  const take = (seq: number) => queues.take(seq).then((agent) => got.push(`${seq}${agent}`));
  const [, , later] = [take(0), take(1), take(2)];
  queues.release("b");
  await take(3);
  expect(got).toEqual(["0a", "1b", "3b"]);
  queues.release("a");
  await later;
  expect(got).toEqual(["0a", "1b", "3b", "2a"]);
});
