import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Carried, type Carrier, carry, errorOf, type SessionServer, sessionServer } from "../../../test/helpers/sessions.js";
import { Opened, type Secured, secured } from "../../../test/helpers/sockets.js";
import type { BaseSession } from "../base-session.js";
import type { SessionEnd } from "../exchange.js";
import type { Limits } from "../limits.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const CARRIERS: readonly Carrier[] = ["memory", "clear", "TLS"];
const KIB = 1024;
/** More than the kernel buffers of a connection hold. */
const MOST_MESSAGES = 4_000;
const MESSAGE = "m".repeat(16 * KIB);

/** Sends until a promise is not settled for a while. Returns how many were sent, and that promise. */
async function sendUntilFull(session: BaseSession): Promise<readonly [sent: number, waits: Promise<void>]> {
  for (let sent = 1; sent <= MOST_MESSAGES; sent++) {
    const waits = session.send(`${sent} ${MESSAGE}`);
    if (waits === undefined) continue;
    const isFull = await Promise.race([waits.then(() => false), delay(100, true)]);
    if (isFull) return [sent, waits];
  }
  throw new Error(`${MOST_MESSAGES} messages were sent and never had to wait`);
}

describe.each(CARRIERS)("limits of sessions: %s", (carrier) => {
  let url: Carried;

  /** Both ends of one session. */
  async function pair(
    limits: Partial<Limits> = {},
  ): Promise<{ client: BaseSession; served: BaseSession; server: SessionServer }> {
    const server = sessionServer();
    url = await carry(carrier, server, { opened, made, limits });
    const client = await url.open();
    return { client, served: await server.next(), server };
  }

  test.each(["client", "server"])("a slow reader stops the %s, and nothing grows", async (sender) => {
    const limits = { sessionQueuedBytes: 64 * KIB };
    const { client, served } = await pair(limits);
    const [from, to] = sender === "client" ? [client, served] : [served, client];
    const [sent, waits] = await sendUntilFull(from);
    // The message that fills the queue, and what was read from the socket with it.
    expect(to.frames.bytes).toBeGreaterThan(limits.sessionQueuedBytes);
    expect(to.frames.bytes).toBeLessThanOrEqual(limits.sessionQueuedBytes + 17 * KIB + 68 * KIB);
    // At most the high-water mark of the socket (16 KiB, from Node 22 on 64 KiB) and the message above it.
    expect(from.unsentBytes).toBeLessThanOrEqual(64 * KIB + 17 * KIB);
    expect(from.unsentBytes).toBeGreaterThan(0);
    const received: number[] = [];
    for await (const frame of to.frames) if (received.push(Number.parseInt(String(frame), 10)) === sent) break;
    await waits;
    expect(received).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
    expect(from.unsentBytes).toBe(0);
  });

  test("both sides may be full at once and go on", async () => {
    const { client, served } = await pair({ sessionQueuedBytes: 64 * KIB });
    const [[up], [down]] = await Promise.all([sendUntilFull(client), sendUntilFull(served)]);
    const counts = await Promise.all(
      [served, client].map(async (end, index) => {
        let count = 0;
        for await (const _ of end.frames) if (++count === [up, down][index]) break;
        return count;
      }),
    );
    expect(counts).toEqual([up, down]);
  });

  test("a sender that waits is told when the session ends", async () => {
    const { client, served } = await pair({ sessionQueuedBytes: 64 * KIB });
    const [, waits] = await sendUntilFull(client);
    served.destroy();
    expect(await errorOf(waits)).toMatchObject({ code: "interrupted", facts: { sent: "maybe" } });
  });

  test("a sender that does not wait ends its session before it fills the memory", async () => {
    const limits = { sessionQueuedBytes: 64 * KIB, sessionCalls: 8, sessionMessageBytes: 17 * KIB };
    const { client, served } = await pair(limits);
    await sendUntilFull(served);
    let most = 0;
    for (let count = 0; count < 100; count++) {
      void served.send(MESSAGE);
      most = Math.max(most, served.unsentBytes);
    }
    expect(most).toBeLessThanOrEqual(9 * 17 * KIB);
    expect(await served.closed).toEqual({ code: 1008, reason: "the peer does not read", clean: false });
    expect(await endAfterReading(client)).toMatchObject({ code: 1006 });
  });

  test("a peer that reads nothing for too long is disconnected, even while a call runs", async () => {
    const { client, served } = await pair({ sessionQueuedBytes: 64 * KIB, writeStallMs: 100 });
    served.hold();
    void flood(served);
    expect(await served.closed).toEqual({ code: 1008, reason: "the peer does not read", clean: false });
    expect(await endAfterReading(client)).toMatchObject({ code: 1006 });
  });

  test("a session without a message is closed with 1008", async () => {
    const { client, served } = await pair({ sessionFirstMessageMs: 30 });
    // What the server says does not count.
    await served.send("hello");
    expect(await client.closed).toEqual({ code: 1008, reason: "no message arrived in time", clean: true });
    expect(await served.closed).toMatchObject({ code: 1008 });
  });

  test("an idle session is closed with 1001, but not while a call holds it", async () => {
    const { client, served } = await pair({ sessionFirstMessageMs: 10_000, sessionIdleMs: 60 });
    await client.send("first");
    const releases = [served.hold(), served.hold()];
    await delay(200);
    releases[0]?.();
    releases[0]?.(); // twice is once
    await delay(200);
    expect(await Promise.race([client.closed, delay(1, "open")])).toBe("open");
    releases[1]?.();
    expect(await client.closed).toEqual({ code: 1001, reason: "idle", clean: true });
    expect(await served.closed).toMatchObject({ code: 1001 });
  });

  test("closing the link closes idle sessions with 1001 at once, held ones after their call", async () => {
    const { client, served, server } = await pair({ drainMs: 10_000 });
    const held = await url.open();
    const servedHeld = await server.next();
    const release = held.hold();
    const closing = url.link.close();
    expect(await served.closed).toEqual({ code: 1001, reason: "the client is closing", clean: true });
    expect(await client.closed).toMatchObject({ code: 1001, clean: true });
    await held.send("last");
    expect(await servedHeld.frames.next()).toEqual({ done: false, value: "last" });
    expect(await Promise.race([closing, delay(50, "open")])).toBe("open");
    expect(await errorOf(url.open())).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    release();
    expect(await servedHeld.closed).toMatchObject({ code: 1001 });
    await closing;
  });

  test("closing the link disconnects held sessions after drainMs, and ends handshakes", async () => {
    const server = sessionServer();
    const hanging = {
      ...server.intake,
      upgrade: (head: Parameters<NonNullable<typeof server.intake.upgrade>>[0]) =>
        head.path === "/hang" ? new Promise<never>(() => undefined) : (server.intake.upgrade?.(head) as never),
    };
    const {
      link,
      open,
      url: address,
    } = await carry(carrier, { ...server, intake: hanging }, { opened, made, limits: { drainMs: 50 } });
    const session = await open();
    session.hold();
    const opening = errorOf(open({ url: `${address}/hang` }));
    await delay(20);
    await link.close();
    expect(await session.closed).toEqual({ code: 1006, reason: "", clean: false });
    expect(await opening).toMatchObject({ code: "unavailable", message: "the link is closed", facts: { sent: "no" } });
  });
});

/** A peer that reads nothing does not notice the end of the connection before. */
async function endAfterReading({ frames, closed }: BaseSession): Promise<SessionEnd> {
  for await (const _ of frames);
  return closed;
}

/** Sends whenever there is room, for as long as the session is open. */
async function flood(session: BaseSession): Promise<void> {
  let isOpen = true;
  void session.closed.then(() => {
    isOpen = false;
  });
  while (isOpen) await Promise.resolve(session.send(MESSAGE)).catch(() => undefined);
}
