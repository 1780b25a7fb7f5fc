import { once } from "node:events";
import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Chunk, Exchange, HttpRequest } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { type Listening, listen } from "./listen.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const STREAM = { "content-type": "text/event-stream" };

async function serve(exchange: Exchange, limits: Partial<Limits> = {}, onError?: (thrown: unknown) => void): Promise<Listening> {
  const listening = await listen(exchange, { port: 0, limits: { ...DEFAULT_LIMITS, drainMs: 50, ...limits }, onError });
  opened.push(() => listening.close());
  return listening;
}

function streaming(chunks: (request: HttpRequest) => AsyncIterable<Chunk>): Exchange {
  return (request) => ({ status: 200, headers: STREAM, body: chunks(request) });
}

/** A client that reads the head, and the rest on demand. */
async function open(url: string): Promise<{ request: ClientRequest; response: IncomingMessage }> {
  const request = get(url, { agent: false });
  request.on("error", () => undefined);
  opened.push(() => request.destroy());
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { request, response };
}

/** A promise and what settles it. */
function signal(): { readonly happened: Promise<void>; happen(): void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happened, happen };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe("listen: streams", () => {
  test("head and first event come at once, the rest as it is made", async () => {
    const next = signal();
    const { url } = await serve(
      streaming(async function* () {
        yield "data: 1\n\n";
        await next.happened;
        yield new TextEncoder().encode("data: 2\n\n");
      }),
    );
    const { response } = await open(url);
    expect(response.headers["content-type"]).toBe("text/event-stream");
    response.setEncoding("utf8");
    const chunks = response[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toBe("data: 1\n\n");
    next.happen();
    expect((await chunks.next()).value).toBe("data: 2\n\n");
    expect((await chunks.next()).done).toBe(true);
    expect(response.complete).toBe(true);
  });

  test("the head is sent before the first event", async () => {
    const { url } = await serve(streaming(() => ({ [Symbol.asyncIterator]: () => ({ next: never }) })));
    const { response } = await open(url);
    expect(response.statusCode).toBe(200);
  });

  test("trailers follow the last chunk", async () => {
    const { url } = await serve(() => ({
      status: 200,
      headers: { trailer: "grpc-status" },
      body: (async function* () {
        yield "x";
      })(),
      trailers: () => ({ "grpc-status": "0" }),
    }));
    const { response } = await open(url);
    response.resume();
    await once(response, "end");
    expect(response.trailers).toEqual({ "grpc-status": "0" });
  });

  test("a stream that throws is visibly cut, and reported", async () => {
    const reported: unknown[] = [];
    const { url } = await serve(
      streaming(async function* () {
        yield "data: 1\n\n";
        throw new Error("broken");
      }),
      {},
      (thrown) => reported.push(thrown),
    );
    const { response } = await open(url);
    const chunks = response[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe("data: 1\n\n");
    await expect(chunks.next()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(response.complete).toBe(false);
    expect(reported).toEqual([new Error("broken")]);
  });

  test("a client that disconnects runs the generator's finally and cancels the request", async () => {
    const finished = signal();
    let seen: HttpRequest | undefined;
    const { url } = await serve(
      streaming(async function* (request) {
        seen = request;
        try {
          for (;;) {
            yield "data: 1\n\n";
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        } finally {
          finished.happen();
        }
      }),
    );
    const { request, response } = await open(url);
    await once(response, "data");
    request.destroy();
    await finished.happened;
    expect(seen?.cancel.reason?.code).toBe("cancelled");
  });

  test("a producer that waits is notified of the disconnect by the cancel", async () => {
    const told = signal();
    const { url } = await serve(
      streaming(async function* (request) {
        request.cancel.onCancel(told.happen);
        yield "data: 1\n\n";
        await told.happened;
      }),
    );
    const { request, response } = await open(url);
    await once(response, "data");
    request.destroy();
    await told.happened;
  });

  test("nothing is pulled while the client does not read", async () => {
    let pulled = 0;
    const chunk = new Uint8Array(64 * 1024);
    const { url } = await serve(
      streaming(async function* () {
        for (;;) {
          pulled++;
          yield chunk;
        }
      }),
    );
    const { response } = await open(url);
    response.pause();
    let before = -1;
    while (before !== pulled) {
      before = pulled;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // Kernel buffers on loopback take a few megabytes; an unbounded writer would have taken gigabytes by now.
    expect(pulled).toBeLessThan(400);
    response.once("data", () => response.pause());
    response.resume();
    await once(response, "data");
  });

  test("a reader that does not read is cut after writeStallMs", async () => {
    const finished = signal();
    const { port } = await serve(
      streaming(async function* () {
        try {
          for (;;) yield new Uint8Array(64 * 1024);
        } finally {
          finished.happen();
        }
      }),
      { writeStallMs: 100 },
    );
    const socket = connect({ port, host: "127.0.0.1", onread: undefined as never });
    opened.push(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
    await finished.happened;
  });

  test("a silent stream gets its idle chunk, an active one does not", async () => {
    const { url } = await serve((request) => ({
      status: 200,
      headers: STREAM,
      idle: { chunk: ":\n\n", everyMs: 40 },
      body: (async function* () {
        for (let index = 0; index < 6; index++) {
          yield "data: x\n\n";
          await new Promise((resolve) => setTimeout(resolve, request.path === "/talks" ? 10 : 100));
        }
      })(),
    }));
    const silent = await (await fetch(`${url}/silent`)).text();
    expect(silent.split(":\n\n").length - 1).toBeGreaterThanOrEqual(6);
    expect(silent.split("data: x\n\n")).toHaveLength(7);
    const talks = await (await fetch(`${url}/talks`)).text();
    expect(talks.split(":\n\n").length - 1).toBeLessThanOrEqual(1);
  });

  test("streams beyond the limit get 503, and a slot is free after one ends", async () => {
    const { url } = await serve(
      streaming(async function* () {
        yield "data: 1\n\n";
        await never();
      }),
      { openStreams: 1 },
    );
    const first = await open(url);
    await once(first.response, "data");
    const refused = await fetch(url);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    first.request.destroy();
    await once(first.response, "close").catch(() => undefined);
    let status = 503;
    while (status === 503) {
      const again = await open(url);
      status = again.response.statusCode ?? 0;
      again.request.destroy();
    }
    expect(status).toBe(200);
  });

  test("HEAD of a stream has no body", async () => {
    const { url } = await serve(
      streaming(async function* () {
        yield await never();
      }),
    );
    const response = await fetch(url, { method: "HEAD" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
  });

  test("a pipelined stream waits for the previous one", async () => {
    const { port } = await serve(
      streaming(async function* (request) {
        yield `<${request.path} 1>`;
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield `<${request.path} 2>`;
      }),
    );
    const socket = connect(port, "127.0.0.1");
    opened.push(() => socket.destroy());
    socket.write("GET /a HTTP/1.1\r\nhost: h\r\n\r\nGET /b HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    let text = "";
    for await (const bytes of socket) text += bytes;
    expect(text.match(/<.*?>/g)).toEqual(["</a 1>", "</a 2>", "</b 1>", "</b 2>"]);
  });
});

describe("listen: shutdown with streams", () => {
  test("a stream that ends within drainMs ends well", async () => {
    const end = signal();
    const listening = await serve(
      streaming(async function* () {
        yield "data: 1\n\n";
        await end.happened;
        yield "data: 2\n\n";
      }),
      { drainMs: 5_000 },
    );
    const { response } = await open(listening.url);
    response.setEncoding("utf8");
    const chunks = response[Symbol.asyncIterator]();
    await chunks.next();
    const closed = listening.close();
    end.happen();
    expect((await chunks.next()).value).toBe("data: 2\n\n");
    expect((await chunks.next()).done).toBe(true);
    await closed;
    expect(response.complete).toBe(true);
  });

  test("one that does not is cut after drainMs, and its finally runs", async () => {
    const finished = signal();
    const listening = await serve(
      streaming(async function* () {
        try {
          for (;;) {
            yield "data: 1\n\n";
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        } finally {
          finished.happen();
        }
      }),
      { drainMs: 60 },
    );
    const { response } = await open(listening.url);
    response.on("error", () => undefined);
    response.resume();
    await listening.close();
    await finished.happened;
    expect(response.complete).toBe(false);
  });
});
