import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textOf } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { toy } from "../toy/index.js";
import { type Bridges, openBridges } from "./pairs/bridges.js";
import { allPairs, interfacesOf } from "./pairs/interfaces.js";
import { codeOf, collect, emulatedIn, wordsOf } from "./pairs/seen.js";
import { createWorker } from "./pairs/worker.js";

/** A protocol that nobody here has heard of joins by its folder and one line: in listener of all others, and upstream them. */

const registry = [...protocols, toy];
const PAIRS = allPairs(await interfacesOf(registry)).filter(
  ({ listener, upstream }) => listener.protocol === toy || upstream.protocol === toy,
);
const worker = createWorker();
let bridges: Bridges;
let strict: Bridges;
beforeAll(async () => {
  bridges = await openBridges(worker, { protocols: registry });
  strict = await openBridges(worker, { protocols: registry, strict: true });
});
afterAll(async () => {
  await bridges?.close();
  await strict?.close();
});

test("the toy stands in listener of every way and upstream it, and of itself", () => {
  const ways = new Set(PAIRS.flatMap(({ listener, upstream }) => [listener.pin, upstream.pin]));
  expect(PAIRS).toHaveLength(2 * ways.size - 1);
});

describe.each(PAIRS)("$name", ({ listener, upstream }) => {
  test("a question is answered", async () => {
    const caller = await (await bridges.gatewayTo(upstream)).caller(listener);
    expect(await caller.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
  });

  test("a stream is answered whole, and flagged where the gateway stood in for it", async () => {
    const caller = await (await bridges.gatewayTo(upstream)).caller(listener);
    const events = await collect(caller.stream("conform: stream 3"));
    expect(wordsOf(events)).toBe("chunk 1 chunk 2 chunk 3 ");
    const emulated = listener.traits.streaming
      ? [!upstream.traits.streaming && "streaming", !upstream.traits.tasks && "tasks"]
      : [];
    expect(emulatedIn(events)).toEqual(emulated.filter((each) => each !== false));
  });

  test("a strict gateway lets nothing through that it would have to stand in for", async () => {
    const caller = await (await strict.gatewayTo(upstream)).caller(listener);
    const text = `conform: stream 3 ${randomUUID()}`;
    await collect(caller.stream(text)).catch(codeOf);
    const refused = listener.traits.streaming && !upstream.traits.streaming;
    expect(worker.heard(text)).toHaveLength(refused ? 0 : 1);
  });

  test("what it cannot carry is told", async () => {
    const gateway = await bridges.gatewayTo(upstream);
    const caller = await gateway.caller(listener);
    const text = `hello ${randomUUID()}`;
    gateway.takeLosses();
    await caller.send([
      { kind: "text", text },
      { kind: "data", data: { n: 1 } },
    ]);
    expect(gateway.takeLosses().map(({ path }) => path)).toContainEqual(expect.stringMatching(/^message\.parts\[\d*\]$/));
    expect(worker.heard(text).map(({ content }) => textOf(content))).toEqual([text]);
  });

  test("two callers in a session of the same name never meet", async () => {
    const gateway = await bridges.gatewayTo(upstream);
    const [text, session] = [`hello ${randomUUID()}`, randomUUID()];
    for (const who of ["alice", "bob"] as const) await (await gateway.caller(listener, who)).ask(text, { session });
    const heard = worker.heard(text).map(({ context }) => context.sessionId);
    expect(heard).toHaveLength(2);
    expect(new Set([session, ...heard]).size).toBe(3);
  });
});
