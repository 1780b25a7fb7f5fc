import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import type { HttpResponse } from "./exchange.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { MemoryRequest } from "./memory-request.js";
import { makeRequest, NEVER } from "./request.js";
import type { ServerRequest } from "./server-request.js";
import { respondUnread } from "./unread.js";

const problem = new AgentError("too_large", "the request body is longer than 10 bytes");
const otherwise: HttpResponse = { status: 413, headers: {}, body: "house" };
const received = (): ServerRequest => {
  const sent = makeRequest({ method: "POST", url: "http://h/a?b=c", headers: { accept: "x" }, body: "0123456789a" });
  return new MemoryRequest(sent, NEVER, DEFAULT_LIMITS);
};

describe("respondUnread", () => {
  test("a protocol that reads the body reports the reason in its own format, with the server's status", async () => {
    const response = await respondUnread(
      (unread) => {
        try {
          return { status: 200, headers: {}, body: String(unread.json()) };
        } catch (thrown) {
          return {
            status: 200,
            headers: { form: "own" },
            body: `${unread.path}?${unread.query}: ${AgentError.from(thrown).message}`,
          };
        }
      },
      received(),
      problem,
      otherwise,
    );
    expect(response).toEqual({
      status: 413,
      headers: { form: "own" },
      body: "/a?b=c: the request body is longer than 10 bytes",
    });
  });

  test("its own error status is kept", async () => {
    const response = await respondUnread(() => ({ status: 401, headers: {}, body: "who?" }), received(), problem, otherwise);
    expect([response.status, response.body]).toEqual([401, "who?"]);
  });

  test("requests without a body are answered", async () => {
    const response = await respondUnread(() => ({ status: 200, headers: {}, body: "done" }), received(), problem, otherwise);
    expect([response.status, response.body]).toEqual([200, "done"]);
  });

  test("the fallback is used where the exchange fails", async () => {
    const throwing = await respondUnread(
      (unread) => ({ status: 200, headers: {}, body: unread.body }),
      received(),
      problem,
      otherwise,
    );
    expect(throwing).toBe(otherwise);
  });

  test("a stream is released", async () => {
    let ended = false;
    async function* chunks() {
      try {
        yield "a";
      } finally {
        ended = true;
      }
    }
    const body = chunks();
    await body.next();
    const response = await respondUnread(() => ({ status: 200, headers: {}, body }), received(), problem, otherwise);
    expect([response, ended]).toEqual([otherwise, true]);
  });
});
