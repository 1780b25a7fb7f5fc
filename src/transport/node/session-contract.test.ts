import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Carried,
  type Carrier,
  carry,
  echo,
  errorOf,
  hesitantServer,
  ordinary,
  read,
  type SessionServer,
  sessionServer,
} from "../../../test/helpers/sessions.js";
import { Opened, type Secured, secured } from "../../../test/helpers/sockets.js";
import { AgentError, CancelSource, startCall } from "../../envelope/index.js";
import type { BaseSession } from "../base-session.js";
import type { Chunk, HttpRequest, SessionTap } from "../exchange.js";
import type { Limits } from "../limits.js";
import { errorResponse } from "../response.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const CARRIERS: readonly Carrier[] = ["memory", "clear", "TLS"];
const KIB = 1024;

describe.each(CARRIERS)("sessions: %s", (carrier) => {
  function via(server: SessionServer, limits: Partial<Limits> = {}): Promise<Carried> {
    return carry(carrier, server, { opened, made, limits });
  }

  /** Both ends of one session. */
  async function pair(
    limits: Partial<Limits> = {},
  ): Promise<{ client: BaseSession; served: BaseSession; server: SessionServer }> {
    const server = sessionServer();
    const { open } = await via(server, limits);
    const client = await open();
    return { client, served: await server.next(), server };
  }

  test("messages arrive as they were sent, text as string and binary as bytes", async () => {
    const { open } = await via(sessionServer(echo));
    const session = await open();
    const sent: Chunk[] = ["", "text", "größer 🙂", new Uint8Array(0), new Uint8Array([0, 255, 10]), "x".repeat(300_000)];
    for (const frame of sent) await session.send(frame);
    const received = await read(session, sent.length);
    expect(received.map((frame) => (typeof frame === "string" ? frame : [...frame]))).toEqual(
      sent.map((frame) => (typeof frame === "string" ? frame : [...frame])),
    );
  });

  test("the server sees the request without the fields of the hop", async () => {
    const server = sessionServer();
    const { open, url } = await via(server);
    const headers = { authorization: "Bearer t", connection: "x-hop", "x-hop": "1", "content-length": "3" };
    const client = await open({ headers, url: `${url}/a%20b?c=d` });
    const { request } = await server.next();
    expect(request).toMatchObject({
      method: "GET",
      path: "/a%20b",
      query: "c=d",
      target: `${url.replace("ws", "http")}/a%20b?c=d`,
    });
    expect(request.headers).toMatchObject({ authorization: "Bearer t", upgrade: "websocket", "sec-websocket-version": "13" });
    expect(request.headers).not.toHaveProperty("x-hop");
    expect(request.headers).not.toHaveProperty("content-length");
    expect(request.connection.secure).toBe(carrier !== "clear");
    expect(client.request.target).toBe(`${url}/a%20b?c=d`);
  });

  test("both ends know the selected subprotocol", async () => {
    const server = sessionServer();
    const { open } = await via(server);
    expect((await open({}, ["one", "two"])).subprotocol).toBe("one");
    expect((await server.next()).subprotocol).toBe("one");
    expect((await open()).subprotocol).toBe("");
    expect((await server.next()).subprotocol).toBe("");
  });

  test("a subprotocol that was offered and not selected, or selected and not offered, opens no session", async () => {
    const none = sessionServer(undefined, { subprotocol: undefined });
    const first = await via(none);
    expect(await errorOf(first.open({}, ["one"]))).toMatchObject({ code: "bad_peer", facts: { sent: "no" } });
    const foreign = sessionServer(undefined, { subprotocol: "two" });
    const second = await via(foreign);
    expect(await errorOf(second.open({}, ["one"]))).toMatchObject({ code: "internal", facts: { status: 500, sent: "no" } });
    expect(foreign.abandoned).toEqual(["/s"]);
    expect(foreign.errors).toHaveLength(1);
    expect(await errorOf(second.open({}, ["not a token"]))).toMatchObject({ code: "invalid_message" });
  });

  test.each([
    [401, "unauthenticated"],
    [403, "forbidden"],
    [404, "not_found"],
    [426, "unsupported_version"],
    [400, "invalid_message"],
    [429, "overloaded"],
    [503, "unavailable"],
    [302, "bad_peer"],
  ] as const)("a refusal with %i is the error %s", async (status, code) => {
    const refusal = errorResponse(status, new AgentError("internal", "not you"), {
      "www-authenticate": "Bearer",
      "retry-after": "7",
      location: "/elsewhere",
    });
    const server = { ...sessionServer(), intake: { take: ordinary, upgrade: async () => refusal } };
    const { open } = await via(server);
    const { message, ...error } = await errorOf(open());
    expect(error).toMatchObject({
      code,
      facts: { status, sent: "no", retryAfterMs: 7_000, head: { "www-authenticate": "Bearer" } },
    });
    expect(message).toContain("not you");
  });

  test("a decision that fails is a 500 and is reported", async () => {
    const failing = {
      ...sessionServer(),
      intake: { take: ordinary, upgrade: () => Promise.reject(new Error("bug")) },
    };
    const { open } = await via(failing);
    expect(await errorOf(open())).toMatchObject({ code: "internal", facts: { status: 500 } });
    expect(failing.errors).toMatchObject([{ message: "bug" }]);
  });

  test("a decision that hangs is refused with 503, cancelled, and abandoned if it comes after all", async () => {
    const server = hesitantServer();
    const { open } = await via(server, { headersMs: 50 });
    expect(await errorOf(open())).toMatchObject({ code: "unavailable", facts: { status: 503, retryAfterMs: 1_000 } });
    expect(server.heads[0]?.cancel.reason).toMatchObject({ code: "overloaded" });
    expect(server.abandoned).toEqual([]);
    server.late.open();
    await expect.poll(() => server.abandoned).toEqual(["/s"]);
  });

  test("cancelling the handshake cancels the decision, and abandons it once", async () => {
    const server = hesitantServer();
    const { open } = await via(server);
    const cancel = new CancelSource();
    const opening = errorOf(open({ cancel }));
    await server.asked.passed;
    cancel.cancel(new AgentError("cancelled", "enough"));
    expect(await opening).toMatchObject({ code: "cancelled", message: "enough" });
    await expect.poll(() => server.heads[0]?.cancel.cancelled).toBe(true);
    server.late.open();
    await expect.poll(() => server.abandoned).toEqual(["/s"]);
    expect(await errorOf(open({ cancel }))).toMatchObject({ code: "cancelled", message: "enough" });
    expect(server.heads).toHaveLength(1);
  });

  test("both ends see the code and the reason of the side that closed", async () => {
    const one = await pair();
    one.client.close(4001, "done");
    expect(await one.client.closed).toEqual({ code: 4001, reason: "done", clean: true });
    expect(await one.served.closed).toEqual({ code: 4001, reason: "done", clean: true });
    const two = await pair();
    two.served.close(1000, "");
    expect(await two.served.closed).toEqual({ code: 1000, reason: "", clean: true });
    expect(await two.client.closed).toEqual({ code: 1000, reason: "", clean: true });
    expect(two.served.request.cancel.reason).toMatchObject({ code: "cancelled", message: "the session ended" });
  });

  test("a broken connection is 1006", async () => {
    const { client, served } = await pair();
    client.destroy();
    expect(await client.closed).toEqual({ code: 1006, reason: "", clean: false });
    expect(await served.closed).toEqual({ code: 1006, reason: "", clean: false });
    expect(served.request.cancel.cancelled).toBe(true);
  });

  test("a close code that must not be sent is reported and sent as 1011; a long reason is cut between characters", async () => {
    const { client, served, server } = await pair();
    served.close(1006, `${"é".repeat(70)}`);
    const { code, reason } = await client.closed;
    expect([code, reason]).toEqual([1011, "é".repeat(61)]);
    expect(server.errors).toMatchObject([{ code: "internal" }]);
  });

  test("messages before the peer's close are still read; after one's own they are discarded", async () => {
    const { client, served } = await pair();
    await client.send("1");
    await client.send("2");
    client.close(1000, "");
    await served.closed;
    const frames: Chunk[] = [];
    for await (const frame of served.frames) frames.push(frame);
    expect(frames).toEqual(["1", "2"]);

    const other = await pair();
    await other.client.send("1");
    await expect.poll(() => other.served.frames.bytes).toBeGreaterThan(0);
    other.served.close(1000, "");
    expect(await other.served.frames.next()).toEqual({ done: true, value: undefined });
  });

  test("a reader that waits sees the end, and a second one is refused", async () => {
    const { client, served } = await pair();
    const reader = client.frames[Symbol.asyncIterator]();
    const waiting = reader.next();
    expect(() => client.frames[Symbol.asyncIterator]()).toThrow("one reader");
    expect(await errorOf(reader.next())).toMatchObject({ code: "internal" });
    served.close(1000, "");
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test("after a reader that stopped, messages are discarded and the sender is not held up", async () => {
    const { client, served } = await pair({ sessionQueuedBytes: 10 * KIB });
    await client.send("first");
    for await (const frame of served.frames) {
      expect(frame).toBe("first");
      break;
    }
    for (let count = 0; count < 100; count++) await client.send("x".repeat(KIB));
    expect(served.frames.bytes).toBe(0);
    await served.send("still open");
    expect(await read(client, 1)).toEqual(["still open"]);
  });

  test("sending on a closed session, or more than a message may have, is refused", async () => {
    const { client, served } = await pair({ sessionMessageBytes: 10 });
    expect(await errorOf(client.send("é".repeat(6)))).toMatchObject({ code: "too_large", facts: { sent: "no" } });
    await client.send("é".repeat(5));
    expect(await read(served, 1)).toEqual(["é".repeat(5)]);
    client.close(1000, "");
    expect(await errorOf(client.send("x"))).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    await served.closed;
    // Nobody waits for this one: it must not end the process.
    void served.send("x");
    await delay(1);
  });

  test("observers see every message once, and the end; one that throws is reported and breaks nothing", async () => {
    const { client, served, server } = await pair();
    await client.send("early");
    await expect.poll(() => served.frames.bytes).toBeGreaterThan(0);
    const seen: unknown[] = [];
    const tap: SessionTap = {
      received: (frame, bytes) => seen.push(["received", frame, bytes]),
      assigned: (frame, call) => seen.push(["assigned", frame, call.hops]),
      sent: (frame, bytes, call) => seen.push(["sent", frame, bytes, call?.hops]),
      ended: (end) => seen.push(["ended", end.code]),
    };
    const broken = (): never => {
      throw new Error("tap");
    };
    served.tap({ received: broken, assigned: broken, sent: broken, ended: broken });
    served.tap(tap);
    const call = startCall({ hops: 3 });
    await served.send("grün", call);
    await client.send("2");
    expect(await read(served, 2)).toEqual(["early", "2"]);
    served.assign("2", call);
    client.close(1000, "");
    await served.closed;
    expect(seen).toEqual([
      ["received", "early", 5],
      ["sent", "grün", 5, 3],
      ["received", "2", 1],
      ["assigned", "2", 3],
      ["ended", 1000],
    ]);
    expect(server.errors).toHaveLength(5);
    served.tap(tap);
    expect(seen.at(-1)).toEqual(["ended", 1000]);
  });

  test("the protocol's end closes the session: 1000, or 1011 and a report if it failed", async () => {
    const { open } = await via(sessionServer(async () => undefined));
    expect(await (await open()).closed).toMatchObject({ code: 1000, clean: true });
    for (const failing of [() => Promise.reject(new Error("bug")), () => failNow()]) {
      const server = sessionServer(failing);
      expect(await (await (await via(server)).open()).closed).toMatchObject({ code: 1011, clean: true });
      expect(server.errors).toMatchObject([{ message: "bug" }]);
    }
  });

  test("the final request is signed, and the 101 response is verified", async () => {
    const server = sessionServer(undefined, { headers: { "x-proof": "p" } });
    const { open } = await via(server);
    const signed: HttpRequest[] = [];
    const verified: unknown[] = [];
    const signer = {
      sign: async (final: HttpRequest) => {
        signed.push(final);
        return { signature: `of ${final.target}` };
      },
      verify: (response: { status: number; headers: object }, final: HttpRequest) => {
        verified.push([response.status, response.headers, final.headers["signature"]]);
        return response as never;
      },
    };
    await open({ signer, headers: { authorization: "a" } });
    const { headers, target } = (await server.next()).request;
    expect(headers["signature"]).toBe(`of ${target}`);
    expect(signed[0]).toMatchObject({ method: "GET", target, headers: { authorization: "a", upgrade: "websocket" } });
    expect(signed[0]?.headers["sec-websocket-key"]).toBe(headers["sec-websocket-key"]);
    expect(verified).toMatchObject([[101, { "x-proof": "p" }, `of ${target}`]]);
    const forged = { ...signer, verify: () => Promise.reject(new AgentError("bad_signature", "forged")) };
    expect(await errorOf(open({ signer: forged }))).toMatchObject({ code: "bad_signature" });
    const broken = { sign: () => Promise.reject(new AgentError("bad_signature", "no key")) };
    expect(await errorOf(open({ signer: broken }))).toMatchObject({ code: "bad_signature", message: "no key" });
  });
});

function failNow(): never {
  throw new Error("bug");
}
