import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { bridge, DiscoveryCache, serve } from "../../src/index.js";
import type { Session } from "../../src/transport/exchange.js";
import { recordSessions } from "../session-toy/accepted-sessions.js";
import { createHoldingWorker } from "../session-toy/holding-worker.js";
import { sessionToy } from "../session-toy/index.js";
import { ask, RawSession } from "../session-toy/raw-session.js";

/** A gateway with thousands of idle sessions, whose calls all go to its upstream in one. */

const SESSIONS = 2_000;
const PER_WAVE = 100;
const CALLS = 50;
const CROWD_MS = 120_000;

const opened: { close(): Promise<unknown> }[] = [];
afterAll(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

test(
  "two thousand idle sessions stay open, those that call are answered, and all are closed",
  async () => {
    const inUpstream: Session[] = [];
    const upstream = await serve(createHoldingWorker().agent, { protocols: [recordSessions(inUpstream)] });
    opened.push(upstream);
    const bridged = await bridge(upstream.url, { protocols: [sessionToy], discoveryCache: new DiscoveryCache() });
    opened.push(bridged);
    const gateway = await serve(bridged, {
      protocols: [sessionToy],
      limits: { sessions: SESSIONS, sessionsPerCaller: SESSIONS, sessionIdleMs: CROWD_MS, connections: 2 * SESSIONS },
    });
    opened.push(gateway);
    const url = `ws://127.0.0.1:${gateway.port}/session-toy`;

    const sessions: RawSession[] = [];
    // In waves: on a busy machine, accepting two thousand sockets at once would time out.
    while (sessions.length < SESSIONS)
      sessions.push(...(await Promise.all(Array.from({ length: PER_WAVE }, () => openIdle(url)))));
    expect(await RawSession.refused(url)).toMatchObject({ status: 503 });
    let ended = 0;
    for (const session of sessions) void session.closed.then(() => ended++);

    const [callers = []] = fc.sample(fc.shuffledSubarray(sessions, { minLength: CALLS, maxLength: CALLS }), {
      seed: 20_261_117,
      numRuns: 1,
    });
    for (const [index, session] of callers.entries()) session.send(ask("call", `hello ${index}`));
    const answers = await Promise.all(callers.map((session) => session.next()));
    expect(answers.map(textIn)).toEqual(callers.map((_, index) => `you said: hello ${index}`));
    expect([ended, inUpstream.length]).toEqual([0, 1]);

    await gateway.close();
    const codes = await Promise.all(sessions.map(async ({ closed }) => (await closed).code));
    expect(new Set(codes)).toEqual(new Set([1001]));
  },
  CROWD_MS,
);

/** A session that has proved to be one. */
async function openIdle(url: string): Promise<RawSession> {
  const session = await RawSession.open(url);
  session.send({ id: "ping", op: "ping" });
  expect(await session.next()).toEqual({ id: "ping", end: { kind: "done" } });
  return session;
}

function textIn(answer: unknown): unknown {
  expect(answer).toMatchObject({ id: "call", end: { kind: "message", message: { parts: [{ text: expect.any(String) }] } } });
  return (answer as { end: { message: { parts: [{ text: string }] } } }).end.message.parts[0].text; // as was just checked
}
