import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AgentError, type AgentEvent, ANONYMOUS, startCall } from "../envelope/index.js";
import type { Chunk, Session, SessionEnd } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { createClientContext } from "./client-context.js";
import { createHost } from "./host.js";
import { ServedSession } from "./served-session.js";
import type { CalleeMessage, CallerMessage } from "./session-wire.js";
import { SharedSession } from "./shared-session.js";

/** Heartbeats and receipts of sessions, on a clock of the test. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const ids = { now: () => 0, newId: () => "id" };
const DONE: AgentEvent = { kind: "done" };

/** A session whose peer is the test. */
function openPair() {
  const sent: string[] = [];
  const waiting: ((step: IteratorResult<Chunk>) => void)[] = [];
  const received: Chunk[] = [];
  let end: (end: SessionEnd) => void = () => undefined;
  const closed = new Promise<SessionEnd>((resolve) => {
    end = resolve;
  });
  const frames: AsyncIterator<Chunk> = {
    next: () => {
      const frame = received.shift();
      if (frame !== undefined) return Promise.resolve({ done: false, value: frame });
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
  const receive = (frame: Chunk): void => {
    const reader = waiting.shift();
    if (reader === undefined) received.push(frame);
    else reader({ done: false, value: frame });
  };
  const close = (code: number, reason: string): void => {
    end({ code, reason, clean: true });
    waiting.shift()?.({ done: true, value: undefined });
  };
  const session = {
    send: (frame: Chunk) => void sent.push(String(frame)),
    hold: () => () => undefined,
    assign: () => undefined,
    close,
    closed,
    request: { headers: {}, connection: { secure: false, loopback: true, remote: "" } },
  } as unknown as Session;
  return { session, frames, sent, receive, close };
}

function client(missed = 2, canCancel = true) {
  const pair = openPair();
  const wire = {
    request: () => (id: string | number) => `call ${id}`,
    cancel: (id: string | number) => (canCancel ? `cancel ${id}` : undefined),
    read: (frame: Chunk): CalleeMessage => {
      const [word, id = ""] = String(frame).split(" ");
      if (word === "receipt") return { kind: "receipt", id };
      return word === "pong" ? { kind: "pong" } : { kind: "end", id, event: () => DONE };
    },
    heartbeat: { ping: () => "ping", everyMs: 1_000, missed },
  };
  const context = createClientContext({
    link: { exchange: () => Promise.reject(new Error("unused")), close: async () => undefined },
    ids,
  });
  const shared = new SharedSession({ ...pair, peer: ANONYMOUS, context, wire });
  let isDone = false;
  const running = shared.start(wire.request(), startCall(), () => {
    isDone = true;
  });
  return { ...pair, running, shared, isDone: () => isDone };
}

describe("a call that is given up", () => {
  test("keeps its place until the peer has ended it", async () => {
    const { shared, running, sent, receive, isDone } = client();
    shared.cancel(running);
    expect([sent, isDone()]).toEqual([["call 1", "cancel 1"], false]);
    receive("end 1");
    await vi.advanceTimersByTimeAsync(0);
    expect(isDone()).toBe(true);
  });

  test("frees its place at once in a protocol that cannot cancel", () => {
    const { shared, running, sent, isDone } = client(2, false);
    shared.cancel(running);
    expect([sent, isDone()]).toEqual([["call 1"], true]);
  });
});

describe("heartbeats", () => {
  test("are sent while a call runs, and end with it", async () => {
    const { running, sent, receive } = client();
    await vi.advanceTimersByTimeAsync(1_000);
    receive("pong");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toEqual(["call 1", "ping", "ping"]);
    receive("end 1");
    expect(await running.events.next()).toEqual({ done: false, value: DONE });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sent).toEqual(["call 1", "ping", "ping"]);
  });

  test("without an answer end the session, and its calls are interrupted", async () => {
    const { running } = client();
    const failed = running.events.next().catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await failed).toMatchObject({ code: "interrupted", message: "the peer was silent for 2000 ms" });
  });
});

describe("a receipt", () => {
  test("tells the caller of a call that is cut that the peer works on it", async () => {
    const { running, receive, close } = client();
    receive("receipt 1");
    const failed = running.events.next().catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(0);
    close(1006, "");
    expect(await failed).toMatchObject({
      code: "interrupted",
      facts: { sent: "maybe", detail: { receipt: expect.any(String) } },
    });
  });

  test.each([
    [500, ["end 1"]],
    [2_500, ["receipt 1", "end 1"]],
  ])("is sent for work of more than a second: %i ms", async (workMs, expected) => {
    const pair = openPair();
    const handler = () => new Promise<AgentEvent>((resolve) => setTimeout(() => resolve(DONE), workMs));
    const card = { name: "worker" } as never; // only its name is used
    const parts = createHost({ handler, cards: [card], ids, limits: DEFAULT_LIMITS });
    const wire = {
      via: { protocol: "test", version: "1", binding: "WS" },
      read: (): CallerMessage => ({
        kind: "request",
        request: { id: "1", agent: undefined, hops: 0, parameters: undefined, operation: () => ({ kind: "ping" }) },
      }),
      event: () => "event",
      end: (id: string | number) => `end ${id}`,
      error: (_: unknown, error: AgentError) => `error ${error.message}`,
      say: () => "say",
      receipt: { of: (id: string | number) => `receipt ${id}`, afterMs: 1_000 },
    };
    void new ServedSession({ host: parts, wire, session: pair.session, caller: ANONYMOUS }).run(pair.frames);
    pair.receive("call");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(pair.sent).toEqual(expected);
  });
});
