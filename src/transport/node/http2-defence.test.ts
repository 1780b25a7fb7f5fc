import { connect as connectHttp2, constants } from "node:http2";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { answerOf, ask, gate, Opened, type Raw, type Secured, secured } from "../../../test/helpers/sockets.js";
import type { Exchange, HttpResponse } from "../exchange.js";
import type { Limits } from "../limits.js";
import { Http2Exchange } from "./http2-exchange.js";
import type { Listening } from "./listen.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const echo: Exchange = (request) => ({ status: 200, headers: {}, body: request.body });
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** RFC 9113 §4.1 and §6.5: an empty SETTINGS frame. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** An acknowledgement of the server's settings. */
const SETTINGS_ACK = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]);
/** Announces 100 bytes of headers on stream 1 and sends one. */
const HEADERS_BEGUN = Buffer.from([0, 0, 100, 1, 4, 0, 0, 0, 1, 0x82]);

/** A complete `GET /` to the host `h` (HPACK, RFC 7541), followed by its reset. */
function takenBack(streamId: number, code: number): Buffer {
  const id = [0, 0, streamId >> 8, streamId & 0xff];
  return Buffer.from([0, 0, 6, 1, 5, ...id, 0x82, 0x86, 0x84, 0x41, 1, 0x68, 0, 0, 4, 3, 0, ...id, 0, 0, 0, code]);
}

describe.each(["in clear", "under TLS"])("slow peers %s", (how) => {
  const secure = how === "under TLS";
  const serve = (limits: Partial<Limits>): Promise<Listening> => opened.serve(echo, limits, secure ? { tls: made.pair } : {});
  const dial = (server: Listening, alpn: string): Promise<Raw> =>
    opened.dial(server, secure ? { ca: made.authority.ca, alpn } : undefined);

  test("a silent socket is closed", async () => {
    const raw = await opened.dial(await serve({ firstByteMs: 60 }));
    expect(await raw.closed).toBe("");
  });

  test("slow HTTP/1.1 headers get 408", async () => {
    const raw = await dial(await serve({ headersMs: 100 }), "http/1.1");
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\n");
    expect(await raw.closed).toMatch(/^HTTP\/1.1 408 /);
  });

  test("a slow HTTP/1.1 body gets 408", async () => {
    const raw = await dial(await serve({ headersMs: 100, requestMs: 200 }), "http/1.1");
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\n{");
    expect(await raw.closed).toMatch(/^HTTP\/1.1 408 /);
  });

  test("an idle kept-alive HTTP/1.1 connection is closed, after more than one answer", async () => {
    const raw = await dial(await serve({ idleMs: 50 }), "http/1.1");
    raw.socket.write("GET / HTTP/1.1\r\nhost: h\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n");
    expect((await raw.closed).match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  });

  test("half a preface is closed", async () => {
    const raw = await dial(await serve({ headersMs: 60 }), "h2");
    raw.socket.write(PREFACE.slice(0, 8));
    await raw.closed;
  });

  test("silence after the preface is closed", async () => {
    const raw = await dial(await serve({ headersMs: 60 }), "h2");
    raw.socket.write(PREFACE);
    await raw.closed;
  });

  test("settings that are never acknowledged are closed", async () => {
    const raw = await dial(await serve({ headersMs: 60 }), "h2");
    raw.socket.write(PREFACE);
    raw.socket.write(SETTINGS);
    await raw.closed;
  });

  test("HTTP/2 headers that never end are closed", async () => {
    const raw = await dial(await serve({ headersMs: 60, idleMs: 120 }), "h2");
    raw.socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, SETTINGS_ACK, HEADERS_BEGUN]));
    await raw.closed;
  });

  test("a slow HTTP/2 body gets 408, and other streams continue", async () => {
    const server = await serve({ requestMs: 100 });
    const session = await opened.session(server, secure ? made.authority.ca : undefined);
    const slow = session.request({ ":method": "POST" });
    slow.write("{");
    expect((await answerOf(slow)).headers[":status"]).toBe(408);
    expect((await ask(session, { ":method": "POST" }, "fine")).body).toBe("fine");
  });

  test("an idle HTTP/2 connection is closed, one that waits for an answer is not", async () => {
    const answer = gate();
    const waiting: Exchange = async (request) => {
      if (request.path === "/slow") await answer.passed;
      return { status: 200, headers: {}, body: "done" };
    };
    const server = await opened.serve(waiting, { idleMs: 1_000 }, secure ? { tls: made.pair } : {});
    const ca = secure ? made.authority.ca : undefined;
    const busy = await opened.session(server, ca);
    const slow = ask(busy, { ":path": "/slow" });
    const idle = await opened.session(server, ca);
    await ask(idle, {});
    await new Promise((resolve) => idle.once("close", resolve));
    expect(busy.closed).toBe(false);
    answer.open();
    expect((await slow).body).toBe("done");
    await new Promise((resolve) => busy.once("close", resolve));
  });
});

describe("floods", () => {
  test("streams above the limit are refused, the others are answered", async () => {
    const all = gate();
    let running = 0;
    const server = await opened.serve(
      async () => {
        running++;
        await all.passed;
        return { status: 200, headers: {}, body: "x" };
      },
      { h2Streams: 4 },
    );
    // Not ready yet: this client does not know the limit when it sends.
    const session = connectHttp2(server.url);
    opened.add(() => session.destroy());
    session.on("error", () => undefined);
    const answers = Array.from({ length: 10 }, () => ask(session, {}));
    const refused = await Promise.all(answers.slice(4));
    expect(refused.every(({ rstCode }) => rstCode === constants.NGHTTP2_REFUSED_STREAM)).toBe(true);
    expect(running).toBe(4);
    all.open();
    for (const { body } of await Promise.all(answers.slice(0, 4))) expect(body).toBe("x");
  });

  test("requests that are reset immediately end the connection", async () => {
    let calls = 0;
    const server = await opened.serve((request) => {
      if (request.path === "/fine") return { status: 200, headers: {}, body: "fine" };
      calls++;
      return new Promise<HttpResponse>(() => undefined);
    });
    const raw = await opened.dial(server);
    const frames = Array.from({ length: 1_000 }, (_, index) => takenBack(2 * index + 1, index % 2 === 0 ? 8 : 2));
    raw.socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, SETTINGS_ACK, ...frames]));
    const text = await raw.closed;
    // The last frame is GOAWAY (type 7) on stream 0, and its last four bytes are the code.
    const goaway = Buffer.from(text, "latin1").subarray(-17);
    expect(goaway[3]).toBe(7);
    // On Node 24 INTERNAL_ERROR was seen as well; older versions leave the decision to us.
    const isNewer = Number.parseInt(process.versions.node, 10) >= 24;
    const codes: number[] = [constants.NGHTTP2_ENHANCE_YOUR_CALM, ...(isNewer ? [constants.NGHTTP2_INTERNAL_ERROR] : [])];
    expect(codes).toContain(goaway.readUInt32BE(13));
    expect(calls).toBeLessThan(300);
    expect((await ask(await opened.session(server), { ":path": "/fine" })).body).toBe("fine");
  });

  test("streams abandoned after their answer began do not count as a flood", async () => {
    async function* endless() {
      yield "x";
      await new Promise(() => undefined);
    }
    const server = await opened.serve(() => ({ status: 200, headers: {}, body: endless() }));
    const session = await opened.session(server);
    for (let index = 0; index < 300; index++) {
      const stream = session.request({});
      stream.on("error", () => undefined);
      await new Promise((resolve) => stream.once("data", resolve));
      stream.close(constants.NGHTTP2_CANCEL);
    }
    expect(session.closed).toBe(false);
  });

  test("headers that are too long are refused", async () => {
    const server = await opened.serve(echo, { headerBytes: 2_048 });
    const session = await opened.session(server);
    const long = await ask(session, { "x-long": "y".repeat(4_000) });
    expect(long.rstCode).not.toBe(0);
    expect(long.headers).toEqual({});
    expect((await ask(session, { "x-short": "y" })).headers[":status"]).toBe(200);
  });

  test("a body that is too long is refused, declared or not, in the format of the addressed protocol", async () => {
    const exchange: Exchange = (request) => {
      try {
        return { status: 200, headers: {}, body: String(request.body.length) };
      } catch {
        return { status: 200, headers: { "grpc-status": "8" }, body: "no" };
      }
    };
    const released = vi.spyOn(Http2Exchange.prototype, "closed");
    const server = await opened.serve(exchange, { bodyBytes: 1_000 });
    const session = await opened.session(server);
    const said = session.request({ ":method": "POST", "content-length": 1_001 });
    expect((await answerOf(said)).headers).toMatchObject({ ":status": 413, "grpc-status": "8" });
    const unsaid = session.request({ ":method": "POST" });
    unsaid.end(Buffer.alloc(5_000_000));
    const answer = await answerOf(unsaid);
    expect(answer.headers).toMatchObject({ ":status": 413, "grpc-status": "8" });
    expect(answer.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    expect((await ask(session, { ":method": "POST" }, "x".repeat(1_000))).body).toBe("1000");
    // A stream that is not read to its end would never be released.
    while (released.mock.calls.length < 3) await new Promise((resolve) => setImmediate(resolve));
    released.mockRestore();
  });

  test("a coded body is refused", async () => {
    const session = await opened.session(await opened.serve(echo));
    const answer = await ask(session, { ":method": "POST", "content-encoding": "gzip" }, "x");
    expect([answer.headers[":status"], answer.body.includes("unsupported_content")]).toEqual([415, true]);
  });
});

describe("shutdown", () => {
  test("idle sessions end at once, the running stream is finished, new ones are not taken", async () => {
    const more = gate();
    async function* events() {
      yield "1";
      await more.passed;
      yield "2";
    }
    const server = await opened.serve(() => ({ status: 200, headers: {}, body: events() }), { drainMs: 5_000 });
    const idle = await opened.session(server);
    const busy = await opened.session(server);
    const stream = busy.request({});
    const answer = answerOf(stream);
    await new Promise((resolve) => stream.once("data", resolve));
    const goaway = new Promise((resolve) => busy.once("goaway", resolve));
    const closed = server.close();
    expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR);
    await new Promise((resolve) => (idle.destroyed ? resolve(undefined) : idle.once("close", resolve)));
    more.open();
    expect(await answer).toMatchObject({ body: "12", rstCode: 0 });
    await closed;
  });

  test("streams that do not end are cut after the drain time", async () => {
    const server = await opened.serve(() => new Promise<HttpResponse>(() => undefined), { drainMs: 60 });
    const silent = await opened.dial(server);
    const session = await opened.session(server);
    const answer = ask(session, {});
    const preface = await opened.dial(server);
    preface.socket.write(PREFACE);
    await server.close();
    await Promise.all([silent.closed, preface.closed]);
    expect((await answer).headers).toEqual({});
  });
});
