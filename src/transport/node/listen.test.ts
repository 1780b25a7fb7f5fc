import { connect, Server, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AgentError } from "../../envelope/index.js";
import type { Exchange, HttpRequest, HttpResponse } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { type Listening, listen } from "./listen.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(exchange: Exchange, limits: Partial<Limits> = {}, onError?: (thrown: unknown) => void): Promise<Listening> {
  const listening = await listen(exchange, { port: 0, limits: { ...DEFAULT_LIMITS, drainMs: 50, ...limits }, onError });
  opened.push(() => listening.close());
  return listening;
}

interface Raw {
  readonly socket: Socket;
  readonly closed: Promise<string>;
  text(): string;
  until(part: string): Promise<string>;
}

/** A raw socket: what it has received so far, and when it closed. */
async function dial(port: number): Promise<Raw> {
  const socket = connect(port, "127.0.0.1");
  opened.push(() => socket.destroy());
  let text = "";
  let look = (): void => undefined;
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    look();
  });
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
  await new Promise((resolve) => socket.on("connect", resolve));
  return {
    socket,
    closed,
    text: () => text,
    until: (part) =>
      new Promise((resolve, reject) => {
        look = () => (text.includes(part) ? resolve(text) : undefined);
        socket.on("close", () => reject(new Error(`closed without ${part}: ${text}`)));
        look();
      }),
  };
}

const echo: Exchange = (request) => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(request.json()),
});
const post = (body: string, more = ""): string =>
  `POST /x HTTP/1.1\r\nhost: h\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;
const json = async (response: globalThis.Response): Promise<unknown> => response.json();

describe("listen: requests and answers", () => {
  test("shows the request as it was sent", async () => {
    let seen: HttpRequest | undefined;
    const { url, port, address } = await serve((request) => {
      seen = request;
      return {
        status: 200,
        headers: { "content-type": "application/json", "x-absent": undefined },
        body: JSON.stringify(request.json()),
      };
    });
    const response = await fetch(`${url}/a%20b/c?d=e&f`, { method: "POST", body: '{"a":"é"}', headers: { "X-Twice": "1" } });
    expect(await json(response)).toEqual({ a: "é" });
    expect(response.headers.get("content-length")).toBe("10");
    expect(response.headers.get("x-absent")).toBeNull();
    expect(seen).toMatchObject({ method: "POST", path: "/a%20b/c", query: "d=e&f", target: `${url}/a%20b/c?d=e&f` });
    expect(seen?.headers["x-twice"]).toBe("1");
    expect(seen?.rawHeaders).toContain("X-Twice");
    expect(seen?.connection).toMatchObject({ remote: "127.0.0.1", secure: false, loopback: true });
    expect(seen?.cancel.cancelled).toBe(false);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(address).toBe("127.0.0.1");
  });

  test.each([
    ["two Host headers", "GET /x HTTP/1.1\r\nhost: h\r\nHost: other\r\n\r\n", "more than one Host"],
    ["a target of another host", "GET http://other/x HTTP/1.1\r\nhost: h\r\n\r\n", "names another host"],
    [
      "gzip before chunked",
      "POST /x HTTP/1.1\r\nhost: h\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "must be chunked",
    ],
  ])("refuses %s, which servers read differently", async (_what, bytes, message) => {
    let asked = 0;
    const { port } = await serve(() => {
      asked++;
      return { status: 200, headers: {}, body: "" };
    });
    const { socket, closed } = await dial(port);
    socket.write(bytes);
    const answer = await closed;
    expect([answer.slice(0, 12), answer.includes(message), asked]).toEqual(["HTTP/1.1 400", true, 0]);
  });

  test("a forwarded request is not loopback, and an absolute target stays as it is", async () => {
    const seen: HttpRequest[] = [];
    const { port, url } = await serve((request) => {
      seen.push(request);
      return { status: 204, headers: {}, body: undefined };
    });
    await fetch(url, { headers: { "x-forwarded-for": "10.0.0.1" } });
    const raw = await dial(port);
    raw.socket.write("GET http://other.test:81/p?q=1 HTTP/1.1\r\nhost: other.test:81\r\n\r\n");
    expect(await raw.until("\r\n\r\n")).not.toContain("content-length");
    expect(seen[0]?.connection.loopback).toBe(false);
    expect(seen[1]).toMatchObject({ path: "/p", query: "q=1", target: "http://other.test:81/p?q=1" });
  });

  test("bytes, nothing, HEAD and a body in many pieces", async () => {
    const { url, port } = await serve((request) => {
      if (request.method === "HEAD") return { status: 200, headers: { "content-length": "12345" }, body: undefined };
      if (request.path === "/none") return { status: 202, headers: {}, body: undefined };
      return { status: 200, headers: {}, body: request.body };
    });
    const big = "x".repeat(300_000);
    expect(await (await fetch(url, { method: "POST", body: big })).text()).toBe(big);
    expect((await fetch(`${url}/none`)).headers.get("content-length")).toBe("0");
    expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).toBe("12345");
    const raw = await dial(port);
    raw.socket.write("P");
    await new Promise((resolve) => setImmediate(resolve));
    raw.socket.write("OST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
    raw.socket.write("2\r\nde\r\n0\r\n\r\n");
    expect(await raw.until("abcde")).toContain("content-length: 5\r\n");
  });

  test("an error thrown by the exchange is a 500 without details, and is reported", async () => {
    const reported: unknown[] = [];
    const { url } = await serve(
      (request) => {
        if (request.path === "/later") return Promise.reject(new Error("secret"));
        if (request.path === "/header") return { status: 200, headers: { "x-bad": "a\nb" }, body: "x" };
        throw new Error("secret");
      },
      {},
      (thrown) => reported.push(thrown),
    );
    for (const path of ["/now", "/later", "/header"]) {
      const response = await fetch(`${url}${path}`);
      expect(response.status).toBe(500);
      expect(await json(response)).toEqual({
        error: { code: "E_PROTOCOL", reason: "internal", message: "the server failed to answer" },
      });
    }
    expect(reported).toHaveLength(3);
  });

  test("pipelined requests are answered in order", async () => {
    const { port } = await serve(async (request) => {
      const delay = Number(request.query);
      await new Promise((resolve) => setTimeout(resolve, delay));
      return { status: 200, headers: {}, body: `<${delay}>` };
    });
    const raw = await dial(port);
    raw.socket.write([30, 1, 10].map((delay) => `GET /?${delay} HTTP/1.1\r\nhost: h\r\n\r\n`).join(""));
    const text = await raw.until("<10>");
    expect(text.match(/<\d+>/g)).toEqual(["<30>", "<1>", "<10>"]);
  });

  test("one connection cannot start any number of requests", async () => {
    let running = 0;
    const { port } = await serve(() => {
      running++;
      return new Promise<HttpResponse>(() => undefined);
    });
    const raw = await dial(port);
    raw.socket.write("GET / HTTP/1.1\r\nhost: h\r\n\r\n".repeat(300));
    while (running < 100) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(running).toBe(100);
  });

  test("a body that arrives byte by byte is assembled", async () => {
    const { port } = await serve((request) => ({ status: 200, headers: {}, body: request.body }));
    const raw = await dial(port);
    const bytes = [..."the quick brown fox"].map((letter) => `1\r\n${letter}\r\n`).join("");
    raw.socket.write(`POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n${bytes}0\r\n\r\n`);
    expect(await raw.until("brown fox")).toContain("content-length: 19\r\n");
    expect(raw.text()).toContain("the quick brown fox");
  });

  test("trailers may follow a whole body too", async () => {
    const { port } = await serve(() => ({ status: 200, headers: {}, body: "abc", trailers: () => ({ "x-sum": "1" }) }));
    const raw = await dial(port);
    raw.socket.write("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
    expect(await raw.until("x-sum: 1\r\n\r\n")).toContain("3\r\nabc\r\n0\r\n");
  });

  test("expect: 100-continue is answered before the body, or refused before it", async () => {
    const { port } = await serve(echo, { bodyBytes: 100 });
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
    await raw.until("HTTP/1.1 100 Continue\r\n\r\n");
    raw.socket.write("{}");
    expect(await raw.until("{}")).toContain("HTTP/1.1 200 OK");
    const large = await dial(port);
    large.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 101\r\nexpect: 100-continue\r\n\r\n");
    expect(await large.closed).toMatch(/^HTTP\/1.1 413 /);
  });

  test("reports why it cannot listen", async () => {
    const { port } = await serve(echo);
    const error = await listen(echo, { port }).catch((thrown: AgentError) => thrown);
    expect(error).toMatchObject({
      code: "unavailable",
      message: `cannot listen on 127.0.0.1:${port}: the address is already in use (EADDRINUSE)`,
    });
  });
});

describe("listen: slow, malformed and disconnecting peers", () => {
  test("a silent connection is closed", async () => {
    const { port } = await serve(echo, { firstByteMs: 60 });
    const raw = await dial(port);
    expect(await raw.closed).toBe("");
  });

  test("slow headers get 408", async () => {
    const { port } = await serve(echo, { headersMs: 100, requestMs: 5_000 });
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\n");
    expect(await raw.closed).toMatch(/^HTTP\/1.1 408 .*the request did not arrive in time/s);
  });

  test("a slow body gets 408", async () => {
    const { port } = await serve(echo, { headersMs: 100, requestMs: 200 });
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\n{");
    expect(await raw.closed).toMatch(/^HTTP\/1.1 408 /);
  });

  test("headers that are too long get 431", async () => {
    const { port } = await serve(echo, { headerBytes: 1_024 });
    const raw = await dial(port);
    raw.socket.write(`GET / HTTP/1.1\r\nhost: h\r\nx: ${"y".repeat(4_000)}\r\n\r\n`);
    expect(await raw.closed).toMatch(/^HTTP\/1.1 431 .*"reason":"too_large"/s);
  });

  test("a body announced as too long is rejected unread", async () => {
    const { port } = await serve(echo, { bodyBytes: 1_000 });
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1001\r\n\r\n");
    expect(await raw.closed).toMatch(/^HTTP\/1.1 413 .*the request body is longer than 1000 bytes/s);
  });

  test("the rejection is delivered during a large upload", async () => {
    const { port } = await serve(echo, { bodyBytes: 1_000 });
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 50000000\r\n\r\n");
    raw.socket.write(Buffer.alloc(20_000_000));
    expect(await raw.closed).toMatch(/^HTTP\/1.1 413 .*the request body is longer than 1000 bytes/s);
  });

  test("a body that turns out too long is rejected while the peer continues to send", async () => {
    let read = false;
    const { port } = await serve(
      (request) => {
        read = request.body.length >= 0;
        return echo(request);
      },
      { bodyBytes: 1_000 },
    );
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n");
    const piece = `1000\r\n${"x".repeat(0x1000)}\r\n`;
    const feed = setInterval(() => raw.socket.write(piece), 5);
    opened.push(() => clearInterval(feed));
    const text = await raw.closed;
    clearInterval(feed);
    expect(text).toMatch(/^HTTP\/1.1 413 .*connection: close/s);
    expect(read).toBe(false);
  });

  test("a coded body is refused", async () => {
    const { url } = await serve(echo);
    const response = await fetch(url, { method: "POST", body: "x", headers: { "content-encoding": "gzip" } });
    expect(response.status).toBe(415);
    expect(await json(response)).toMatchObject({ error: { reason: "unsupported_content" } });
  });

  test.each([
    ["not HTTP at all", "hello there\r\n\r\n", 400],
    ["two lengths", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", 400],
    [
      "length and chunks at once",
      "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["a bad chunk size", "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
  ])("%s gets %3$i", async (_, bytes, status) => {
    const { port, url } = await serve(() => ({ status: 200, headers: {}, body: "fine" }));
    const raw = await dial(port);
    raw.socket.write(bytes);
    expect(await raw.closed).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect((await fetch(url)).status).toBe(200);
  });

  test("garbage after a request never becomes that request's answer", async () => {
    const { port } = await serve(() => new Promise<HttpResponse>(() => undefined));
    const raw = await dial(port);
    raw.socket.write(`GET / HTTP/1.1\r\nhost: h\r\n\r\nrubbish\r\n\r\n`);
    expect(await raw.closed).toBe("");
  });

  test("an interrupted upload never reaches the exchange, and the server continues", async () => {
    let calls = 0;
    const { port, url } = await serve(() => {
      calls++;
      return { status: 200, headers: {}, body: "fine" };
    });
    const raw = await dial(port);
    raw.socket.write("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nhalf", () => raw.socket.resetAndDestroy());
    await raw.closed;
    expect(await (await fetch(url)).text()).toBe("fine");
    expect(calls).toBe(1);
  });

  test("a client that disconnects while waiting cancels the request, on first use and after", async () => {
    const seen: HttpRequest[] = [];
    let arrived = (): void => undefined;
    const { port } = await serve((request) => {
      seen.push(request);
      arrived();
      return new Promise<HttpResponse>(() => undefined);
    });
    const raw = await dial(port);
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    raw.socket.write(post("{}"));
    await here;
    const told = new Promise<AgentError>((resolve) => seen[0]?.cancel.onCancel(resolve));
    raw.socket.destroy();
    expect((await told).code).toBe("cancelled");
  });

  test("connections beyond the limit are dropped", async () => {
    const { port } = await serve(echo, { connections: 1 });
    const first = await dial(port);
    const second = await dial(port);
    expect(await second.closed).toBe("");
    first.socket.write(post("{}"));
    expect(await first.until("{}")).toContain("200 OK");
  });

  test("an idle kept-alive connection is closed", async () => {
    const { port } = await serve(echo, { idleMs: 50 });
    const raw = await dial(port);
    raw.socket.write(post("{}"));
    expect(await raw.closed).toContain("200 OK");
  });
});

describe("listen: shutdown", () => {
  test("idle and silent connections are closed at once, the running call is answered", async () => {
    let release = (): void => undefined;
    let arrived = (): void => undefined;
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const listening = await serve(
      (request) => {
        if (request.path === "/quick") return { status: 200, headers: {}, body: "quick" };
        arrived();
        return new Promise<HttpResponse>((resolve) => {
          release = () => resolve({ status: 200, headers: {}, body: "slow" });
        });
      },
      { drainMs: 5_000 },
    );
    const silent = await dial(listening.port);
    const idle = await dial(listening.port);
    const running = await dial(listening.port);
    idle.socket.write("GET /quick HTTP/1.1\r\nhost: h\r\n\r\n");
    await idle.until("quick");
    running.socket.write("GET /slow HTTP/1.1\r\nhost: h\r\n\r\n");
    await here;
    const closed = listening.close();
    await Promise.all([silent.closed, idle.closed]);
    release();
    expect(await running.closed).toMatch(/connection: close\r\n.*slow$/s);
    await closed;
    await expect(fetch(listening.url)).rejects.toThrow();
  });
});

test("a connection that cannot be accepted is reported, and the server continues", async () => {
  const listening = vi.spyOn(Server.prototype, "listen");
  const reported: unknown[] = [];
  const { url } = await serve(echo, {}, (thrown) => reported.push(thrown));
  const failure = new Error("accept ENFILE");
  // Node emits it on the server; an unhandled error event ends the process.
  (listening.mock.contexts[0] as Server).emit("error", failure); // the one that was opened
  listening.mockRestore();
  expect(reported).toEqual([failure]);
  expect(await json(await fetch(url, { method: "POST", body: "[1]" }))).toEqual([1]);
});
