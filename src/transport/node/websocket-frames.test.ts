import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  BINARY,
  CLOSE,
  closeCodeIn,
  echo,
  frame,
  PING,
  read,
  type SessionServer,
  sessionServer,
  TEXT,
  until,
  upgradeText,
} from "../../../test/helpers/sessions.js";
import { Opened, type Raw, type Secured, secured } from "../../../test/helpers/sockets.js";
import type { BaseSession } from "../base-session.js";
import type { Limits } from "../limits.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const KIB = 1024;
const close = (code: number, reason = ""): Buffer => {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return frame(Buffer.concat([payload, Buffer.from(reason)]), { opcode: CLOSE });
};
/** A frame head that declares a length in 64 bits, with a mask. */
const longHead = (length: number): Buffer => {
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x82ff);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
};

describe.each(["clear", "TLS"])("frames of a WebSocket: %s", (kind) => {
  /** A raw client after the handshake, and the server's end. */
  async function session(
    limits: Partial<Limits> = {},
    server: SessionServer = sessionServer(),
  ): Promise<Raw & { readonly served: BaseSession; readonly server: SessionServer }> {
    const tls = kind === "TLS" ? made.pair : undefined;
    const listening = await opened.serve(server.intake, limits, { tls, onError: server.onError });
    const raw = await opened.dial(listening, tls === undefined ? undefined : { ca: made.authority.ca, alpn: "http/1.1" });
    raw.socket.write(upgradeText());
    await until(raw.socket, "\r\n\r\n");
    return { ...raw, served: await server.next(), server };
  }

  test.each([
    ["an unmasked frame", [frame("x", { mask: false })], 1002],
    ["a reserved bit", [frame("x", { rsv: 0x40 })], 1002],
    ["another reserved bit", [frame("x", { rsv: 0x10 })], 1002],
    ["a reserved opcode", [frame("x", { opcode: 3 })], 1002],
    ["a continuation of nothing", [frame("x", { opcode: 0 })], 1002],
    ["a message inside another", [frame("x", { fin: false }), frame("y")], 1002],
    ["a ping in fragments", [frame("x", { opcode: PING, fin: false })], 1002],
    ["a long ping", [frame("x".repeat(126), { opcode: PING })], 1002],
    ["a close frame of one byte", [frame("x", { opcode: CLOSE })], 1002],
    ["a reserved close code", [close(1005)], 1002],
    ["a close code out of range", [close(999)], 1002],
    ["a close reason that is not UTF-8", [frame(Buffer.from([3, 232, 0xff]), { opcode: CLOSE })], 1007],
    ["text that is not UTF-8", [frame(Buffer.from([0xc3, 0x28]))], 1007],
    ["text that is not UTF-8 across fragments", [frame(Buffer.from([0xc3]), { fin: false }), frame("(", { opcode: 0 })], 1007],
    ["a frame that is too long", [longHead(1001)], 1009],
    ["a frame of more than 53 bits", [longHead(Number.MAX_SAFE_INTEGER + 1)], 1009],
    ["fragments that are too long", [frame("x".repeat(600), { fin: false }), frame("x".repeat(600), { opcode: 0 })], 1009],
    [
      "too many fragments",
      [frame("", { fin: false }), ...Array.from({ length: 8 }, () => frame("", { opcode: 0, fin: false }))],
      1008,
    ],
  ])("%s ends the session with a code and nothing else", async (_, frames, code) => {
    const { socket, closed, served, server } = await session({ sessionMessageBytes: 1_000, sessionFragments: 8 });
    socket.write(frame("before"));
    socket.write(Buffer.concat(frames));
    expect(await read(served, 1)).toEqual(["before"]);
    expect(await served.closed).toMatchObject({ code, clean: false });
    expect(closeCodeIn(await closed)).toBe(code);
    expect(await served.frames.next()).toEqual({ done: true, value: undefined });
    expect(server.errors).toEqual([]);
  });

  test("as many fragments as allowed are one message, with pings between them", async () => {
    const { socket, served } = await session({ sessionFragments: 8 });
    const rest = Array.from({ length: 7 }, (_, index) => frame(String(index), { opcode: 0, fin: index === 6 }));
    socket.write(Buffer.concat([frame("x", { fin: false }), frame("", { opcode: PING }), ...rest]));
    expect(await read(served, 1)).toEqual(["x0123456"]);
  });

  test("a message in too many pieces ends the session", async () => {
    const { socket, closed, served } = await session({ sessionMessageBytes: 10_000 });
    socket.setNoDelay(true);
    socket.write(longHead(9_000));
    for (let count = 0; count < 4_000 && !socket.destroyed; count++) {
      socket.write("x");
      await turn();
    }
    expect(await served.closed).toMatchObject({ code: 1008, clean: false });
    expect(closeCodeIn(await closed)).toBe(1008);
  });

  test.each([
    ["with a code", close(4001, "why"), { code: 4001, reason: "why" }],
    ["without a code", frame("", { opcode: CLOSE }), { code: 1005, reason: "" }],
  ])("a close frame %s in the middle of a message ends the session cleanly, without the message", async (_, bytes, end) => {
    const { socket, closed, served } = await session();
    const waiting = served.frames.next();
    socket.write(Buffer.concat([frame("half", { fin: false }), bytes, frame("after the close frame")]));
    expect(await served.closed).toEqual({ ...end, clean: true });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(closeCodeIn(await closed)).toBe(end.code);
  });

  test("a message that arrives while closing is dropped, and the peer's close frame completes the handshake", async () => {
    const { socket, served } = await session();
    const received: unknown[] = [];
    served.tap({ received: (message) => received.push(message) });
    served.close(1000, "done");
    await until(socket, "done");
    socket.write(Buffer.concat([frame("late"), frame("late", { opcode: BINARY }), close(1000)]));
    expect(await served.closed).toEqual({ code: 1000, reason: "done", clean: true });
    expect(received).toEqual([]);
  });

  test("a peer that does not answer the close frame is disconnected", async () => {
    const { served, closed } = await session({ drainMs: 50 });
    served.close(4000, "bye");
    expect(await served.closed).toEqual({ code: 4000, reason: "bye", clean: false });
    expect(closeCodeIn(await closed)).toBe(4000);
  });

  test("a connection that breaks in the middle of a message is 1006; complete messages are kept", async () => {
    const { socket, served } = await session();
    socket.write(Buffer.concat([frame("whole"), frame("x".repeat(100)).subarray(0, 50)]));
    await expect.poll(() => served.frames.bytes).toBeGreaterThan(0);
    socket.destroy();
    expect(await served.closed).toEqual({ code: 1006, reason: "", clean: false });
    expect(await read(served, 1)).toEqual(["whole"]);
    expect(await served.frames.next()).toEqual({ done: true, value: undefined });
  });

  test("a ping is answered, and is no message", async () => {
    const { socket, served } = await session({ sessionFirstMessageMs: 50 });
    socket.write(frame("here?", { opcode: PING }));
    expect(await until(socket, "here?")).toBe("\x8a\x05here?");
    // Pings are not the first message either.
    const pings = setInterval(() => socket.write(frame("", { opcode: PING })), 5);
    expect(await served.closed).toMatchObject({ code: 1008, reason: "no message arrived in time" });
    clearInterval(pings);
  });

  test("pings do not keep an idle session open", async () => {
    const { socket, served } = await session({ sessionIdleMs: 50 });
    socket.write(frame("first"));
    const pings = setInterval(() => socket.write(frame("", { opcode: PING })), 5);
    expect(await served.closed).toMatchObject({ code: 1001, reason: "idle" });
    clearInterval(pings);
  });

  test("pings of a peer that never reads fill no buffer", async () => {
    const { socket, served } = await session();
    socket.pause();
    const pings = Buffer.concat(Array.from({ length: 1_000 }, () => frame("p".repeat(125), { opcode: PING })));
    let most = 0;
    // 13 MB of pongs, more than the kernel takes.
    for (let count = 0; count < 100; count++) {
      await new Promise((resolve) => socket.write(pings, resolve));
      await turn();
      most = Math.max(most, served.unsentBytes);
    }
    expect(most).toBeLessThanOrEqual(127);
    socket.write(frame("still open"));
    expect(await read(served, 1)).toEqual(["still open"]);
  });

  test("many small messages stop their sender and do not end the session", async () => {
    const limits = { sessionQueuedBytes: 64 * KIB };
    const { socket, served } = await session(limits);
    // The smallest messages there are: six bytes each, so that one read of the socket has more than ten thousand.
    const empty = Buffer.concat(Array.from({ length: 20_000 }, () => frame("")));
    let written = 0;
    while (written < 100 && (await Promise.race([flushed(empty), delay(100, false)]))) written++;
    expect(written).toBeLessThan(100);
    expect(served.frames.bytes).toBeGreaterThan(limits.sessionQueuedBytes);
    // One entry counts 64 bytes. What one read of the socket contains is above the limit.
    expect(served.frames.bytes).toBeLessThanOrEqual(limits.sessionQueuedBytes + 11_000 * 64);
    let count = 0;
    for await (const message of served.frames) {
      if (message === "") count++;
      if (count === (written + 1) * 20_000) break;
    }
    expect(count).toBe((written + 1) * 20_000);

    function flushed(bytes: Buffer): Promise<boolean> {
      return new Promise((resolve) => socket.write(bytes, () => resolve(true)));
    }
  });

  test("a small binary message does not keep the chunk it arrived in", async () => {
    const { socket, served } = await session();
    const pings = Array.from({ length: 400 }, () => frame("p".repeat(125), { opcode: PING }));
    socket.write(Buffer.concat([...pings, frame("ab", { opcode: BINARY }), ...pings]));
    await expect.poll(() => served.frames.bytes).toBeGreaterThan(0);
    const [message] = await read(served, 1);
    expect(message).toBeInstanceOf(Uint8Array);
    expect([...(message as Uint8Array)]).toEqual([97, 98]);
    expect((message as Uint8Array).buffer.byteLength).toBe(2);
  });

  test("the queue of a session that is closed is read to the close frame", async () => {
    const { socket, served } = await session({ sessionQueuedBytes: 10 * KIB, drainMs: 10_000 });
    const message = frame("x".repeat(KIB));
    socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => message)));
    await expect.poll(() => served.frames.bytes).toBeGreaterThan(10 * KIB);
    served.close(1000, "");
    socket.write(close(1000));
    expect(await served.closed).toEqual({ code: 1000, reason: "", clean: true });
    expect(served.frames.bytes).toBe(0);
  });

  test("text and binary arrive as such, in frames of every length", async () => {
    const { socket } = await session({}, sessionServer(echo));
    socket.write(Buffer.concat([frame("t", { opcode: TEXT }), frame("b", { opcode: BINARY }), frame("x".repeat(200))]));
    expect(await until(socket, "x".repeat(200))).toBe(`\x81\x01t\x82\x01b\x81\x7e\x00\xc8${"x".repeat(200)}`);
  });
});
