import { execFile } from "node:child_process";
import { constants } from "node:http2";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { answerOf, ask, gate, Opened } from "../../../test/helpers/sockets.js";
import { type ReadyIterator, TAKE_READY } from "../../envelope/index.js";
import type { Chunk, HttpRequest, HttpResponse } from "../exchange.js";
import { SSE_COMMENT } from "../sse.js";

const opened = new Opened();
afterEach(() => opened.close());

const fine = (body: HttpResponse["body"], more: Partial<HttpResponse> = {}): HttpResponse => ({
  status: 200,
  headers: {},
  body,
  ...more,
});

describe("HTTP/2: requests", () => {
  test("are seen as HTTP/1.1 requests are", async () => {
    let seen: HttpRequest | undefined;
    const server = await opened.serve((request) => {
      seen = request;
      return fine(JSON.stringify(request.json()), { headers: { "content-type": "application/json" } });
    });
    const session = await opened.session(server);
    const head = { ":method": "POST", ":path": "/a%20b/c?d=e&f", "x-one": "1" };
    const answer = await ask(session, head, '{"a":"é"}');
    expect(answer.body).toBe('{"a":"é"}');
    expect(answer.headers).toMatchObject({ ":status": 200, "content-type": "application/json", "content-length": "10" });
    expect(seen).toMatchObject({ method: "POST", path: "/a%20b/c", query: "d=e&f", target: `${server.url}/a%20b/c?d=e&f` });
    expect(seen?.headers).toMatchObject({ host: `127.0.0.1:${server.port}`, "x-one": "1" });
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith(":"))).toEqual([]);
    expect(seen?.rawHeaders).toEqual(["x-one", "1"]);
    expect(seen?.connection).toMatchObject({ remote: "127.0.0.1", secure: false, loopback: true });
    await ask(session, { "x-forwarded-for": "10.0.0.1" });
    expect(seen?.connection.loopback).toBe(false);
  });

  test("curl uses it with prior knowledge, and HTTP/1.1 on the same port", async () => {
    const { url } = await opened.serve((request) => fine(`${request.method} ${request.body.length}`));
    const curl = async (...args: string[]): Promise<string> => {
      const { stdout } = await promisify(execFile)("curl", ["-s", "-w", " HTTP/%{http_version}", ...args, url]);
      return stdout;
    };
    expect(await curl("--http2-prior-knowledge", "-d", "x".repeat(100_000))).toBe("POST 100000 HTTP/2");
    expect(await curl("--http1.1", "-d", "abc")).toBe("POST 3 HTTP/1.1");
  });

  test("CONNECT, a foreign scheme and two hosts are refused", async () => {
    let calls = 0;
    const server = await opened.serve(() => {
      calls++;
      return fine("");
    });
    const session = await opened.session(server);
    expect((await ask(session, { ":method": "CONNECT", ":authority": "h:1" })).headers).toMatchObject({ ":status": 405 });
    expect((await ask(session, { ":scheme": "ftp" })).headers).toMatchObject({ ":status": 400 });
    expect((await ask(session, { ":authority": "a.test", host: "b.test" })).headers).toMatchObject({ ":status": 400 });
    expect(calls).toBe(0);
    expect((await ask(session, {})).headers).toMatchObject({ ":status": 200 });
  });

  test("a body with expect: 100-continue is requested or refused", async () => {
    const server = await opened.serve((request) => fine(request.body), { bodyBytes: 100 });
    const session = await opened.session(server);
    const head = { ":method": "POST", expect: "100-continue" };
    const stream = session.request({ ...head, "content-length": 3 });
    const answer = answerOf(stream);
    await new Promise<void>((resolve) => stream.once("continue", resolve));
    stream.end("abc");
    expect((await answer).body).toBe("abc");
    const large = session.request({ ...head, "content-length": 101 });
    large.once("continue", () => large.end("x".repeat(101)));
    expect((await answerOf(large)).headers[":status"]).toBe(413);
  });

  test("many concurrent requests on one connection, each with its own answer", async () => {
    const server = await opened.serve(async (request) => {
      await new Promise((resolve) => setTimeout(resolve, Number(request.query) % 7));
      return fine(request.query);
    });
    const session = await opened.session(server);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(session, { ":path": `/?${index}` })));
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  test("a request that is reset, or whose caller disconnects, is cancelled", async () => {
    const arrived = [gate(), gate()] as const;
    const cancelled: string[] = [];
    const told = [gate(), gate()] as const;
    const server = await opened.serve((request) => {
      const index = request.path === "/0" ? 0 : 1;
      request.cancel.onCancel((reason) => {
        cancelled.push(reason.code);
        told[index].open();
      });
      arrived[index].open();
      return new Promise<HttpResponse>(() => undefined);
    });
    const session = await opened.session(server);
    const stream = session.request({ ":path": "/0" });
    await arrived[0].passed;
    stream.close(constants.NGHTTP2_CANCEL);
    await told[0].passed;
    session.request({ ":path": "/1" }).on("error", () => undefined);
    await arrived[1].passed;
    session.destroy();
    await told[1].passed;
    expect(cancelled).toEqual(["cancelled", "cancelled"]);
  });
});

describe("HTTP/2: answers", () => {
  test("HEAD, no content, nothing, and headers of the connection", async () => {
    const server = await opened.serve((request) => {
      if (request.path === "/204") return { status: 204, headers: {}, body: "not to be sent" };
      if (request.path === "/304") return { status: 304, headers: { etag: '"1"' }, body: undefined };
      if (request.path === "/stream") return fine(chunks("a"));
      return fine("abc", { headers: { connection: "close", "keep-alive": "x", "transfer-encoding": "chunked", "x-a": "1" } });
    });
    const session = await opened.session(server);
    const head = await ask(session, { ":method": "HEAD" });
    expect([head.headOnly, head.body, head.headers["content-length"]]).toEqual([true, "", "3"]);
    expect((await ask(session, { ":method": "HEAD", ":path": "/stream" })).headOnly).toBe(true);
    const empty = await ask(session, { ":path": "/204" });
    expect([empty.headOnly, empty.headers[":status"], empty.headers["content-length"]]).toEqual([true, 204, undefined]);
    expect((await ask(session, { ":path": "/304" })).headers).toMatchObject({ ":status": 304, etag: '"1"' });
    const plain = await ask(session, {});
    expect(plain.headers["x-a"]).toBe("1");
    expect(plain.headers).not.toHaveProperty("connection");
    expect(plain.headers).not.toHaveProperty("transfer-encoding");
  });

  test("trailers after a whole body, after a stream and without a body; trailers only", async () => {
    const trailers = () => ({ "grpc-status": "0" });
    const server = await opened.serve((request) => {
      if (request.path === "/whole") return fine("abc", { trailers });
      if (request.path === "/stream") return fine(chunks("a", "bc"), { trailers });
      if (request.path === "/none") return fine(undefined, { trailers });
      return fine(undefined, { headers: { "grpc-status": "12" } });
    });
    const session = await opened.session(server);
    for (const [path, body] of [
      ["/whole", "abc"],
      ["/stream", "abc"],
      ["/none", ""],
    ] as const) {
      expect(await ask(session, { ":path": path })).toMatchObject({ body, trailers: { "grpc-status": "0" }, rstCode: 0 });
    }
    const only = await ask(session, { ":path": "/only" });
    expect(only).toMatchObject({ headOnly: true, headers: { "grpc-status": "12" }, trailers: undefined });
  });

  test("large answers do not block other requests", async () => {
    const large = Buffer.alloc(12_000_000, 97);
    const server = await opened.serve((request) => fine(request.path === "/large" ? large : "small"));
    const session = await opened.session(server);
    const waiting = session.request({ ":path": "/large" });
    await new Promise((resolve) => waiting.once("response", resolve));
    const other = ask(session, { ":path": "/large" });
    expect((await ask(session, {})).body).toBe("small");
    expect((await answerOf(waiting)).body).toHaveLength(large.length);
    expect((await other).body).toHaveLength(large.length);
  });

  test("events leave as they come, and silence is filled", async () => {
    const more = gate();
    async function* events() {
      yield "data: 1\n\n";
      await more.passed;
      yield "data: 2\n\n";
    }
    const headers = { "content-type": "text/event-stream" };
    const idle = { chunk: SSE_COMMENT, everyMs: 20 };
    const server = await opened.serve(() => fine(events(), { headers, idle }));
    const stream = (await opened.session(server)).request({});
    const answer = answerOf(stream);
    let text = "";
    const silent = gate();
    stream.on("data", (piece: Buffer) => {
      text += piece.toString();
      if (text.endsWith(SSE_COMMENT)) silent.open();
    });
    await silent.passed;
    expect(text.startsWith("data: 1\n\n")).toBe(true);
    more.open();
    expect((await answer).body.endsWith("data: 2\n\n")).toBe(true);
  });

  test("an error thrown by the exchange is a 500 without details; a failing stream is reset after its data", async () => {
    const reported: unknown[] = [];
    const onError = (thrown: unknown): unknown => reported.push(thrown);
    async function* breaks() {
      yield "half";
      throw new Error("secret");
    }
    const server = await opened.serve(
      (request) => {
        if (request.path === "/stream") return fine(breaks());
        if (request.path === "/header") return fine("x", { headers: { "x-bad": "a\nb" } });
        if (request.path === "/trailer") return fine(chunks("a"), { trailers: () => ({ "x-bad": "a\nb" }) });
        throw new Error("secret");
      },
      {},
      { onError },
    );
    const session = await opened.session(server);
    for (const path of ["/throw", "/header"]) {
      const answer = await ask(session, { ":path": path });
      expect(answer.headers[":status"]).toBe(500);
      expect(answer.body).toContain("the server failed to answer");
    }
    const cut = await ask(session, { ":path": "/stream" });
    expect([cut.body, cut.rstCode]).toEqual(["half", constants.NGHTTP2_INTERNAL_ERROR]);
    expect((await ask(session, { ":path": "/trailer" })).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(reported).toHaveLength(4);
  });

  test("nothing is pulled while the peer does not read, and a peer that never reads is cut", async () => {
    let pulled = 0;
    const ended = gate();
    async function* endless() {
      try {
        for (;;) {
          pulled++;
          yield "x".repeat(64 * 1024);
        }
      } finally {
        ended.open();
      }
    }
    const server = await opened.serve(() => fine(endless()), { writeStallMs: 100 });
    const stream = (await opened.session(server)).request({});
    stream.on("error", () => undefined);
    await new Promise((resolve) => stream.on("response", resolve));
    await ended.passed;
    expect(pulled).toBeLessThan(50);
  });

  test("streams of both protocols count towards one limit", async () => {
    const never = gate();
    async function* wait() {
      yield "a";
      await never.passed;
    }
    const server = await opened.serve(() => fine(wait()), { openStreams: 2 });
    const session = await opened.session(server);
    const held = session.request({});
    await new Promise((resolve) => held.on("response", resolve));
    const first = await fetch(server.url);
    expect(first.status).toBe(200);
    expect((await ask(session, {})).headers).toMatchObject({ ":status": 503, "retry-after": "1" });
    never.open();
    await first.text();
  });
});

async function* chunks(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

describe("HTTP/2: chunks of one tick", () => {
  /** All of them at once; then the body ends, or fails. */
  function burst(chunks: readonly Chunk[], failure?: Error): AsyncIterable<Chunk> {
    let next = 0;
    const iterator: ReadyIterator<Chunk> = {
      async next() {
        const value = chunks[next++];
        if (value !== undefined) return { done: false, value };
        if (failure !== undefined) throw failure;
        return { done: true, value: undefined };
      },
      [TAKE_READY]: () => chunks[next++],
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  test("arrive whole and in order, whatever their lengths", async () => {
    const lengths = [1, 300, 70_000, 5, 16_384, 16_384, 16_384, 200_000, 2];
    const texts = lengths.map((length, index) => String(index).repeat(length));
    const chunks = texts.map((text, index) => (index % 2 === 0 ? text : Buffer.from(text)));
    const server = await opened.serve(() => fine(burst(chunks), { trailers: () => ({ "x-end": "yes" }) }));
    const answer = await ask(await opened.session(server), {});
    expect(answer.body === texts.join("")).toBe(true);
    expect(answer.trailers).toMatchObject({ "x-end": "yes" });
  });

  test("are sent before a stream that fails is reset", async () => {
    const server = await opened.serve(() => fine(burst(["one ", "two"], new Error("no"))), {}, { onError: () => undefined });
    const stream = (await opened.session(server)).request({});
    let text = "";
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    stream.on("error", () => undefined);
    await new Promise((resolve) => stream.once("close", resolve));
    expect([text, stream.rstCode]).toEqual(["one two", constants.NGHTTP2_INTERNAL_ERROR]);
  });
});
