import { describe, expect, test } from "vitest";
import { AgentError, CancelSource } from "../envelope/index.js";
import { responseJson, wholeBody } from "./body.js";
import { type Chunk, type HttpRequest, type HttpResponse, isStream } from "./exchange.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { memoryLink } from "./memory.js";
import { makeRequest } from "./request.js";

const STREAM = { "content-type": "text/event-stream" };
const post = (body: string, cancel?: CancelSource): HttpRequest =>
  makeRequest({ method: "POST", url: "http://agent.test/x?y=1", body, cancel });
const get = (): HttpRequest => makeRequest({ method: "GET", url: "http://agent.test/" });
const codeOf = async (work: unknown): Promise<string> => {
  try {
    await work;
  } catch (thrown) {
    return AgentError.from(thrown).code;
  }
  return "nothing was thrown";
};

function chunksOf(response: HttpResponse): AsyncIterator<Chunk> {
  if (!isStream(response.body)) throw new Error("a stream was expected");
  return response.body[Symbol.asyncIterator]();
}

describe("memoryLink", () => {
  test("carries a request as a socket would show it, and bytes back", async () => {
    let seen: HttpRequest | undefined;
    const link = memoryLink((request) => {
      seen = request;
      return { status: 201, headers: { "content-type": "application/json" }, body: JSON.stringify(request.json()) };
    });
    const response = await link.exchange(post('{"a":"é"}'));
    expect(response.status).toBe(201);
    expect(response.body).toBeInstanceOf(Uint8Array);
    expect(await responseJson(response, DEFAULT_LIMITS)).toEqual({ a: "é" });
    expect(seen).toMatchObject({ path: "/x", query: "y=1", target: "http://agent.test/x?y=1" });
    expect(seen?.headers).toMatchObject({ host: "agent.test", "content-length": "10" });
    expect(seen?.connection.loopback).toBe(true);
  });

  test("rejects the same requests as an HTTP server, and hides server errors", async () => {
    const thrown: unknown[] = [];
    const limits = { ...DEFAULT_LIMITS, bodyBytes: 200 };
    const link = memoryLink(
      () => {
        throw new Error("secret");
      },
      { limits, onError: (each) => thrown.push(each) },
    );
    expect((await link.exchange(post("0".repeat(201)))).status).toBe(413);
    const coded = makeRequest({ method: "POST", url: "http://h/", headers: { "content-encoding": "gzip" }, body: "x" });
    expect((await link.exchange(coded)).status).toBe(415);
    const { status, body } = await memoryLink(() => Promise.reject(new Error("secret"))).exchange(get());
    expect(status).toBe(500);
    expect(new TextDecoder().decode(await wholeBody(body, 1_000))).not.toContain("secret");
    expect(thrown).toHaveLength(0);
    expect((await link.exchange(post("x"))).status).toBe(500);
    expect(thrown).toHaveLength(1);
  });

  test("an answer beyond the limit is too large, also when it is chunked", async () => {
    async function* pieces(): AsyncGenerator<string> {
      for (;;) yield "0123456789";
    }
    const limits = { ...DEFAULT_LIMITS, bodyBytes: 100 };
    expect(await codeOf(memoryLink(() => ({ status: 200, headers: {}, body: pieces() }), { limits }).exchange(get()))).toBe(
      "too_large",
    );
  });

  test("a stream is pulled chunk by chunk and its reader's end reaches the handler", async () => {
    let pulled = 0;
    let finished = false;
    let seen: HttpRequest | undefined;
    async function* chunks(): AsyncGenerator<string> {
      try {
        for (;;) yield `data: ${++pulled}\n\n`;
      } finally {
        finished = true;
      }
    }
    const link = memoryLink((request) => {
      seen = request;
      return { status: 200, headers: STREAM, body: chunks() };
    });
    const iterator = chunksOf(await link.exchange(get()));
    expect((await iterator.next()).value).toEqual(new TextEncoder().encode("data: 1\n\n"));
    await iterator.next();
    expect(pulled).toBe(2);
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(finished).toBe(true);
    expect(seen?.cancel.reason?.code).toBe("cancelled");
    expect((await iterator.next()).done).toBe(true);
  });

  test("a stream that throws is cut, not ended", async () => {
    async function* chunks(): AsyncGenerator<string> {
      yield "data: 1\n\n";
      throw new Error("broken");
    }
    const iterator = chunksOf(await memoryLink(() => ({ status: 200, headers: STREAM, body: chunks() })).exchange(get()));
    await iterator.next();
    expect(await codeOf(iterator.next())).toBe("interrupted");
  });

  test("the caller's cancel ends the wait and reaches the server", async () => {
    let seen: HttpRequest | undefined;
    const link = memoryLink((request) => {
      seen = request;
      return new Promise<HttpResponse>(() => undefined);
    });
    const cancel = new CancelSource();
    const answer = link.exchange(post("x", cancel));
    cancel.cancel(new AgentError("deadline", "late"));
    expect(await codeOf(answer)).toBe("deadline");
    expect(seen?.cancel.reason?.code).toBe("deadline");
    expect(await codeOf(link.exchange(post("x", cancel)))).toBe("deadline");
  });

  test("the caller's cancel ends a stream that waits", async () => {
    async function* chunks(): AsyncGenerator<string> {
      yield "data: 1\n\n";
      await new Promise(() => undefined);
    }
    const cancel = new CancelSource();
    const iterator = chunksOf(
      await memoryLink(() => ({ status: 200, headers: STREAM, body: chunks() })).exchange(post("x", cancel)),
    );
    await iterator.next();
    const waiting = iterator.next();
    cancel.cancel(new AgentError("cancelled", "enough"));
    expect(await codeOf(waiting)).toBe("cancelled");
  });

  test("close refuses new calls, waits for running ones, and cuts after the drain time", async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const link = memoryLink(async () => {
      await held;
      return { status: 200, headers: {}, body: "done" };
    });
    const answer = link.exchange(get());
    const closed = link.close();
    expect(await codeOf(link.exchange(get()))).toBe("unavailable");
    release?.();
    expect((await answer).status).toBe(200);
    await closed;

    const stuck = memoryLink(() => new Promise<HttpResponse>(() => undefined), { limits: { ...DEFAULT_LIMITS, drainMs: 20 } });
    const lost = codeOf(stuck.exchange(get()));
    await stuck.close();
    expect(await lost).toBe("interrupted");
  });
});
