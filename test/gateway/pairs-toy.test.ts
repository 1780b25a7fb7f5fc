import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textOf } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { toy } from "../toy/index.js";
import { type Bridges, openBridges } from "./pairs/bridges.js";
import { pairsWith } from "./pairs/interfaces.js";
import { codeOf, collect, emulatedIn, wordsOf } from "./pairs/seen.js";
import { createWorker } from "./pairs/worker.js";

/** A protocol that is only registered: as listener of all others, and as their upstream. */

const registry = [...protocols, toy];
const PAIRS = await pairsWith(toy, registry);
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

describe.each(PAIRS)("$name", ({ listener, upstream }) => {
  test("a question is answered", async () => {
    const caller = await (await bridges.gatewayTo(upstream)).caller(listener);
    expect(await caller.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
  });

  test("a stream is answered whole, and flagged if the gateway emulated it", async () => {
    const caller = await (await bridges.gatewayTo(upstream)).caller(listener);
    const events = await collect(caller.stream("conform: stream 3"));
    expect(wordsOf(events)).toBe("chunk 1 chunk 2 chunk 3 ");
    const emulated = listener.traits.streaming
      ? [!upstream.traits.streaming && "streaming", !upstream.traits.tasks && "tasks"]
      : [];
    expect(emulatedIn(events)).toEqual(emulated.filter((each) => each !== false));
  });

  test("a strict gateway refuses what it would have to emulate", async () => {
    const caller = await (await strict.gatewayTo(upstream)).caller(listener);
    const text = `conform: stream 3 ${randomUUID()}`;
    await collect(caller.stream(text)).catch(codeOf);
    const refused = listener.traits.streaming && !upstream.traits.streaming;
    expect(worker.received(text)).toHaveLength(refused ? 0 : 1);
  });

  test("losses are reported", async () => {
    const gateway = await bridges.gatewayTo(upstream);
    const caller = await gateway.caller(listener);
    const text = `hello ${randomUUID()}`;
    gateway.takeLosses();
    await caller.send([
      { kind: "text", text },
      { kind: "data", data: { n: 1 } },
    ]);
    expect(gateway.takeLosses().map(({ path }) => path)).toContainEqual(expect.stringMatching(/^message\.parts\[\d*\]$/));
    expect(worker.received(text).map(({ content }) => textOf(content))).toEqual([text]);
  });

  test("two callers with the same session name are kept apart", async () => {
    const gateway = await bridges.gatewayTo(upstream);
    const [text, session] = [`hello ${randomUUID()}`, randomUUID()];
    for (const who of ["alice", "bob"] as const) await (await gateway.caller(listener, who)).ask(text, { session });
    const sessions = worker.received(text).map(({ context }) => context.sessionId);
    expect(sessions).toHaveLength(2);
    expect(new Set([session, ...sessions]).size).toBe(3);
  });
});
