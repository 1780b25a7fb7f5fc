import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { AgentError, CancelSource } from "../../envelope/index.js";
import { type Chunk, type HttpResponse, isStream, type Link } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { makeRequest } from "../request.js";
import { type PoolOptions, poolLink } from "./pool.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function linkWith(options: PoolOptions = {}, limits: Partial<Limits> = {}): Link {
  const link = poolLink({ ...options, limits: { ...DEFAULT_LIMITS, drainMs: 50, ...limits } });
  opened.push(() => link.close());
  return link;
}

async function bound(server: Server, sockets: Set<Socket>): Promise<string> {
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const web = (listener: RequestListener): Promise<string> => bound(createHttpServer(listener), new Set());

/** Counts requests, and does to each what the script says. */
async function scripted(react: (socket: Socket, request: number) => void): Promise<{ url: string; requests(): number }> {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on("data", (bytes) => {
      if (!bytes.toString("latin1").startsWith("POST") && !bytes.toString("latin1").startsWith("GET")) return;
      react(socket, ++requests);
    });
  });
  return { url: await bound(server, new Set()), requests: () => requests };
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const SSE = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
const ask = (url: string, cancel?: CancelSource) =>
  makeRequest({ method: "POST", url, headers: { "content-type": "application/json" }, body: "{}", cancel });

async function errorOf(work: unknown): Promise<AgentError> {
  try {
    await work;
  } catch (thrown) {
    return AgentError.from(thrown);
  }
  return new AgentError("internal", "nothing was thrown");
}

function chunksOf(response: HttpResponse): AsyncIterator<Chunk> {
  if (!isStream(response.body)) throw new Error("a stream was expected");
  return response.body[Symbol.asyncIterator]();
}

const textOf = (response: HttpResponse): string => Buffer.from(response.body as Uint8Array).toString();

describe("poolLink: answers", () => {
  test("sends the request and returns the whole answer", async () => {
    const url = await web((req, res) => {
      const pieces: Buffer[] = [];
      req.on("data", (piece: Buffer) => pieces.push(piece));
      req.on("end", () => {
        res.writeHead(201, { "X-Twice": ["a", "b"], "content-type": "text/plain" });
        res.end(`${req.method} ${req.url} ${req.headers["content-type"]} ${Buffer.concat(pieces)}`);
      });
    });
    const response = await linkWith().exchange(ask(`${url}/p/q?r=s`));
    expect(response.status).toBe(201);
    expect(textOf(response)).toBe("POST /p/q?r=s application/json {}");
    expect(response.headers["x-twice"]).toBe("a, b");
    expect(response.headers["content-type"]).toBe("text/plain");
    expect(response.headers["constructor"]).toBeUndefined();
  });

  test("a redirect is an answer like any other", async () => {
    let requests = 0;
    const url = await web((_, res) => {
      requests++;
      res.writeHead(307, { location: "/elsewhere" }).end();
    });
    const response = await linkWith().exchange(ask(url));
    expect([response.status, response.headers["location"], requests]).toEqual([307, "/elsewhere", 1]);
  });

  test("interim answers are skipped", async () => {
    const { url } = await scripted((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}`));
    expect(textOf(await linkWith().exchange(ask(url)))).toBe("ok");
  });

  test("200 at once over 8 connections", async () => {
    const peers = new Set<number | undefined>();
    const url = await web((req, res) => {
      peers.add(req.socket.remotePort);
      req.resume().on("end", () => res.end(req.url));
    });
    const link = linkWith({ connections: 8 });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => link.exchange(ask(`${url}/${index}`))));
    expect(answers.map(textOf)).toEqual(Array.from({ length: 200 }, (_, index) => `/${index}`));
    expect(peers.size).toBeLessThanOrEqual(8);
  });

  test("an answer beyond the limit is rejected, with or without a length", async () => {
    const url = await web((req, res) => {
      if (req.url === "/says") res.setHeader("content-length", 10_000_000);
      res.end(Buffer.alloc(10_000_000));
    });
    const link = linkWith({}, { bodyBytes: 100_000 });
    for (const path of ["/says", "/silent"]) {
      const error = await errorOf(link.exchange(ask(url + path)));
      expect([error.code, error.facts.sent]).toEqual(["too_large", "maybe"]);
    }
  });

  test("a response with an unrequested content encoding is a peer error", async () => {
    const url = await web((_, res) => res.writeHead(200, { "content-encoding": "gzip" }).end("x"));
    expect((await errorOf(linkWith().exchange(ask(url)))).code).toBe("bad_peer");
  });
});

describe("poolLink: streams", () => {
  test("events come as they are sent", async () => {
    let finish = (): void => undefined;
    const url = await web((_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      finish = () => res.end("data: 2\n\n");
    });
    const chunks = chunksOf(await linkWith().exchange(ask(url)));
    expect(String((await chunks.next()).value)).toBe("data: 1\n\n");
    finish();
    expect(String((await chunks.next()).value)).toBe("data: 2\n\n");
    expect((await chunks.next()).done).toBe(true);
  });

  test("a reader that stops aborts the request", async () => {
    let hungUp = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const url = await web((_, res) => {
      res.on("close", hungUp);
      res.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    });
    const chunks = chunksOf(await linkWith().exchange(ask(url)));
    await chunks.next();
    expect(await chunks.return?.()).toEqual({ done: true, value: undefined });
    await gone;
    expect((await chunks.next()).done).toBe(true);
  });

  test("a cancel in the middle ends the wait with its reason", async () => {
    const { url } = await scripted((socket) => socket.write(`${SSE}3\r\nabc\r\n`));
    const cancel = new CancelSource();
    const chunks = chunksOf(await linkWith().exchange(ask(url, cancel)));
    await chunks.next();
    const waiting = errorOf(chunks.next());
    const reason = new AgentError("deadline", "late");
    cancel.cancel(reason);
    expect(await waiting).toBe(reason);
  });

  test("an interrupted stream throws, after the received data", async () => {
    const { url } = await scripted((socket) => socket.end(`${SSE}3\r\nabc\r\n`));
    const chunks = chunksOf(await linkWith().exchange(ask(url)));
    expect(String((await chunks.next()).value)).toBe("abc");
    const error = await errorOf(chunks.next());
    expect([error.code, error.facts.sent]).toEqual(["interrupted", "maybe"]);
  });

  test("the peer is paused while the reader does not read", async () => {
    let sent = 0;
    const url = await web((_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      const more = (): void => {
        do sent++;
        while (!res.destroyed && res.write(Buffer.alloc(64 * 1024)));
      };
      res.on("drain", more);
      more();
    });
    const chunks = chunksOf(await linkWith().exchange(ask(url)));
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(sent).toBeLessThan(400);
    for (let index = 0; index < 400; index++) await chunks.next();
    expect(sent).toBeGreaterThan(before);
    await chunks.return?.();
  });
});

describe("poolLink: failures", () => {
  test("connection refused: named, and nothing was sent", async () => {
    const server = createServer();
    const url = await bound(server, new Set());
    await new Promise((resolve) => server.close(resolve));
    const error = await errorOf(linkWith().exchange(ask(url)));
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(error.message).toBe(`connection refused by ${url.slice(7)} (ECONNREFUSED)`);
  });

  test("an unknown name: nothing was sent", async () => {
    const error = await errorOf(linkWith().exchange(ask("http://nobody.invalid/")));
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(error.message).toContain("cannot resolve the host name of nobody.invalid");
  });

  test("no TLS on the other side: nothing was sent", async () => {
    const { url } = await scripted(() => undefined);
    const plain = await web((_, res) => res.end());
    const error = await errorOf(linkWith({ connectTimeoutMs: 2_000 }).exchange(ask(plain.replace("http:", "https:"))));
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(url).not.toBe(plain);
  });

  test("a peer that never answers is a deadline, and may have acted", async () => {
    const { url } = await scripted(() => undefined);
    const error = await errorOf(linkWith({ headersTimeoutMs: 100 }).exchange(ask(url)));
    expect(error).toMatchObject({
      code: "deadline",
      message: `${url.slice(7)} did not respond within 100 ms`,
      facts: { sent: "maybe" },
    });
  });

  test("a peer that falls silent in the middle", async () => {
    const { url } = await scripted((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"));
    const error = await errorOf(linkWith({ bodyIdleMs: 100 }).exchange(ask(url)));
    expect(error).toMatchObject({ code: "interrupted", facts: { sent: "maybe" } });
  });

  test.each<[string, (socket: Socket) => void, string]>([
    ["reset before the answer", (socket) => socket.resetAndDestroy(), "unavailable"],
    ["closed before the answer", (socket) => socket.end(), "unavailable"],
    [
      "reset in the headers",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-", () => socket.resetAndDestroy()),
      "unavailable",
    ],
    ["closed in the body", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"), "interrupted"],
    [
      "reset in the body",
      (socket) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc", () => setTimeout(() => socket.resetAndDestroy(), 20)),
      "interrupted",
    ],
    ["not HTTP", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"), "bad_peer"],
    ["headers too long", (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}\r\n\r\n`), "too_large"],
  ])("%s: sent once, may have been processed", async (_, react, code) => {
    const peer = await scripted(react);
    const error = await errorOf(linkWith().exchange(ask(peer.url)));
    expect([error.code, error.facts.sent]).toEqual([code, "maybe"]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(peer.requests()).toBe(1);
  });

  test.each(["POST", "GET"])("a request on a kept-alive connection that dies under a %s is not repeated", async (method) => {
    const peer = await scripted((socket, request) => (request === 1 ? socket.write(OK) : socket.resetAndDestroy()));
    const link = linkWith({ connections: 1 });
    const request = () => makeRequest({ method, url: peer.url });
    await link.exchange(request());
    const error = await errorOf(link.exchange(request()));
    expect([error.code, error.facts.sent]).toEqual(["unavailable", "maybe"]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(peer.requests()).toBe(2);
  });

  test("503 is an answer, and not retried", async () => {
    const peer = await scripted((socket) => socket.write("HTTP/1.1 503 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"));
    const response = await linkWith().exchange(ask(peer.url));
    expect([response.status, response.headers["retry-after"], peer.requests()]).toEqual([503, "1", 1]);
  });

  test("a cancel before, while connecting, and while waiting for the answer", async () => {
    const peer = await scripted(() => undefined);
    const link = linkWith();
    const before = new CancelSource();
    before.cancel(new AgentError("cancelled", "no need"));
    expect((await errorOf(link.exchange(ask(peer.url, before)))).code).toBe("cancelled");

    const connecting = new CancelSource();
    const early = errorOf(link.exchange(ask(peer.url, connecting)));
    connecting.cancel(new AgentError("cancelled", "no need"));
    expect((await early).code).toBe("cancelled");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(peer.requests()).toBe(0);

    const waiting = new CancelSource();
    const late = errorOf(link.exchange(ask(peer.url, waiting)));
    while (peer.requests() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    waiting.cancel(new AgentError("deadline", "late"));
    expect((await late).code).toBe("deadline");
  });

  test("a request that is not valid HTTP is rejected before it is sent", async () => {
    const link = linkWith();
    const bad = makeRequest({ method: "GET", url: "http://127.0.0.1:1/", headers: { "x-bad": "a\nb" } });
    expect(await errorOf(link.exchange(bad))).toMatchObject({ code: "encode", facts: { sent: "no" } });
    expect(await errorOf(link.exchange(makeRequest({ method: "GET", url: "ftp://h/" })))).toMatchObject({
      facts: { sent: "no" },
    });
  });

  test("the guard is called first", async () => {
    const peer = await scripted((socket) => socket.write(OK));
    const link = linkWith({
      guard: (url) => {
        throw new AgentError("forbidden", `${url} is private`, { sent: "no" });
      },
    });
    expect((await errorOf(link.exchange(ask(`${peer.url}/x`)))).message).toBe(`${peer.url}/x is private`);
    expect(peer.requests()).toBe(0);
  });
});

describe("poolLink: bounds and end", () => {
  test("too many waiting requests are refused", async () => {
    const { url } = await scripted(() => undefined);
    const link = linkWith({ connections: 1, waiting: 1 });
    const held = [link.exchange(ask(url)), link.exchange(ask(url))].map(errorOf);
    expect(await errorOf(link.exchange(ask(url)))).toMatchObject({ code: "overloaded", facts: { sent: "no" } });
    await link.close();
    expect((await Promise.all(held)).map(({ code }) => code)).toEqual(["unavailable", "unavailable"]);
  });

  test("an idle origin makes room for another, a busy one does not", async () => {
    const quick = await scripted((socket) => socket.write(OK));
    const slow = await scripted(() => undefined);
    const link = linkWith({ origins: 1 });
    await link.exchange(ask(quick.url));
    const held = errorOf(link.exchange(ask(slow.url)));
    expect((await errorOf(link.exchange(ask(quick.url)))).code).toBe("overloaded");
    await link.close();
    await held;
  });

  test("close lets running calls end and refuses new ones", async () => {
    let answer = (): void => undefined;
    const peer = await scripted((socket) => {
      answer = () => socket.write(OK);
    });
    const link = linkWith({}, { drainMs: 5_000 });
    const running = link.exchange(ask(peer.url));
    while (peer.requests() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = link.close();
    expect(await errorOf(link.exchange(ask(peer.url)))).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    answer();
    expect((await running).status).toBe(200);
    await closed;
  });

  test("close cuts a stream after the drain time", async () => {
    const { url } = await scripted((socket) => socket.write(`${SSE}3\r\nabc\r\n`));
    const link = linkWith({}, { drainMs: 50 });
    const chunks = chunksOf(await link.exchange(ask(url)));
    await chunks.next();
    const waiting = errorOf(chunks.next());
    await link.close();
    expect((await waiting).code).toBe("interrupted");
  });
});

test("a kept-alive connection that the peer closes in the moment of a send is replaced, and nothing is sent twice", async () => {
  const sockets: Socket[] = [];
  const { url, requests } = await scripted((socket) => {
    sockets.push(socket);
    socket.write(OK);
  });
  const link = linkWith();
  expect((await link.exchange(ask(url))).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 30));
  // At once; the client reads that in a later turn of the event loop.
  sockets[0]?.resetAndDestroy();
  expect((await link.exchange(ask(url))).status).toBe(200);
  expect([requests(), sockets.length]).toEqual([2, 2]);
});
