import { describe, expect, test } from "vitest";
import type { Chunk, HttpRequest } from "./exchange.js";
import { fetchHandler } from "./fetch-handler.js";
import { DEFAULT_LIMITS } from "./limits.js";

const post = (url: string, body: string, headers: { [name: string]: string } = {}): globalThis.Request =>
  new globalThis.Request(url, { method: "POST", body, headers });
const STREAM = { "content-type": "text/event-stream" };
const endless = async function* (onEnd: () => void): AsyncGenerator<Chunk> {
  try {
    for (;;) yield "data: 1\n\n";
  } finally {
    onEnd();
  }
};

describe("fetchHandler", () => {
  test("shows the request below its mount point and the whole target", async () => {
    let seen: HttpRequest | undefined;
    const handle = fetchHandler(
      (request) => {
        seen = request;
        return {
          status: 201,
          headers: { "content-type": "application/json", "x-absent": undefined },
          body: JSON.stringify(request.json()),
        };
      },
      { basePath: "/agents" },
    );
    const response = await handle(post("https://host.test/agents/a?b=c", '{"a":"é"}', { "X-One": "1" }));
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ a: "é" });
    expect(seen).toMatchObject({ method: "POST", path: "/a", query: "b=c", target: "https://host.test/agents/a?b=c" });
    expect(seen?.headers["x-one"]).toBe("1");
    expect(seen?.rawHeaders).toContain("x-one");
    expect(seen?.connection).toMatchObject({ secure: true, loopback: false });
    expect((await handle(post("https://host.test/agentsx", "{}"))).status).toBe(404);
    expect((await handle(post("https://host.test/agents", "{}"))).status).toBe(201);
  });

  test("rejects too large, encoded and already read bodies, and hides thrown errors", async () => {
    const reported: unknown[] = [];
    const handle = fetchHandler(() => Promise.reject(new Error("secret")), {
      limits: { ...DEFAULT_LIMITS, bodyBytes: 10 },
      onError: (thrown) => reported.push(thrown),
    });
    expect((await handle(post("http://h/", "0123456789a"))).status).toBe(413);
    expect((await handle(post("http://h/", "x", { "content-encoding": "br" }))).status).toBe(415);
    const read = post("http://h/", "{}");
    await read.text();
    const consumed = await handle(read);
    expect(consumed.status).toBe(500);
    expect(await consumed.text()).toContain("mount this handler before it");
    const failed = await handle(post("http://h/", "{}"));
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain("secret");
    expect(reported).toHaveLength(2);
  });

  test("a status without content has none", async () => {
    const handle = fetchHandler(() => ({ status: 204, headers: {}, body: "" }));
    expect((await handle(post("http://h/", ""))).body).toBeNull();
  });

  test("a stream is pulled by its reader; cancelling it reaches the handler", async () => {
    let ended = false;
    let seen: HttpRequest | undefined;
    const handle = fetchHandler((request) => {
      seen = request;
      return { status: 200, headers: STREAM, body: endless(() => (ended = true)) };
    });
    const reader = (await handle(post("http://h/", "{}"))).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    await reader?.cancel();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(true);
    expect(seen?.cancel.reason?.code).toBe("cancelled");
  });

  test("the caller's abort reaches the handler", async () => {
    const controller = new AbortController();
    let seen: HttpRequest | undefined;
    let ended = false;
    const handle = fetchHandler((request) => {
      seen = request;
      return { status: 200, headers: STREAM, body: endless(() => (ended = true)) };
    });
    const response = await handle(new globalThis.Request("http://h/", { signal: controller.signal }));
    await response.body?.getReader().read();
    controller.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen?.cancel.cancelled).toBe(true);
    expect(ended).toBe(true);
  });

  test("a stream that throws is an error, not an end", async () => {
    const handle = fetchHandler(() => ({
      status: 200,
      headers: STREAM,
      body: (async function* () {
        yield "data: 1\n\n";
        throw new Error("broken");
      })(),
    }));
    const reader = (await handle(post("http://h/", "{}"))).body?.getReader();
    await reader?.read();
    await expect(reader?.read()).rejects.toThrow("broken");
  });

  test("a silent stream gets its idle chunk, and streams are counted", async () => {
    const handle = fetchHandler(
      () => ({
        status: 200,
        headers: STREAM,
        idle: { chunk: ":\n\n", everyMs: 10 },
        body: (async function* (): AsyncGenerator<string> {
          await new Promise(() => undefined);
        })(),
      }),
      { limits: { ...DEFAULT_LIMITS, openStreams: 1 } },
    );
    const reader = (await handle(post("http://h/", "{}"))).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(":\n\n");
    expect((await handle(post("http://h/", "{}"))).status).toBe(503);
    await reader?.cancel();
    expect((await handle(post("http://h/", "{}"))).status).toBe(200);
  });
});
