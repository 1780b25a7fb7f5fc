import { describe, expect, test } from "vitest";
import { errorFromHttp, errorFromRpc } from "./errors.js";

describe("errors of JSON-RPC", () => {
  test.each([
    ["our own code", { code: 1012, message: "m", data: { code: "overloaded" } }, undefined, "overloaded"],
    ["a code of ANP", { code: 1005, message: "m" }, undefined, "unauthenticated"],
    ["a code of JSON-RPC", { code: -32601, message: "m" }, undefined, "unsupported_method"],
    ["the HTTP status", { code: 77, message: "m" }, 404, "not_found"],
    ["nothing known", { code: 77, message: "m" }, undefined, "internal"],
  ])("%s", (_, error, status, code) => {
    expect(errorFromRpc({ data: undefined, ...error }, status)).toMatchObject({ code, message: "m" });
  });

  test("keeps the facts that it knows", () => {
    const data = { field: "params.x", retry_after_ms: 40, details: { taskId: "t", count: 3 } };
    expect(errorFromRpc({ code: 1011, message: "", data }, 429).facts).toMatchObject({
      field: "params.x",
      retryAfterMs: 40,
      status: 429,
      detail: { taskId: "t" },
    });
    expect(errorFromRpc({ code: 1011, message: "", data: undefined })).toMatchObject({ message: "the peer reports error 1011" });
    const headers = { "retry-after": "3" };
    const spoiled = { field: 1, retry_after_ms: -1, details: { count: 3 } };
    expect(errorFromRpc({ code: 1011, message: "m", data: spoiled }, undefined, headers).facts).toEqual({ retryAfterMs: 3_000 });
  });
});

describe("errors of HTTP", () => {
  test.each([
    [
      "JSON-RPC inside",
      { body: { error: { code: 1006, message: "no" } }, status: 403, headers: {} },
      { code: "forbidden", message: "no" },
    ],
    [
      "JSON-RPC without a text",
      { body: { error: { code: 1006 } }, status: 403, headers: {} },
      { code: "forbidden", message: "the peer reports error 1006" },
    ],
    ["FastAPI", { body: { detail: "no key" }, status: 401, headers: {} }, { code: "unauthenticated", message: "no key" }],
    ["the seeds", { body: { error: "broken" }, status: 500, headers: {} }, { code: "internal", message: "broken" }],
    [
      "a list",
      { body: [1], status: 418, headers: {} },
      { code: "invalid_message", message: "the peer answered with HTTP status 418" },
    ],
    ["nothing", { body: undefined, status: 599, headers: {} }, { code: "internal" }],
    [
      "a challenge",
      { body: {}, status: 401, headers: { "www-authenticate": 'DIDWba realm="r", error="invalid_nonce"' } },
      { message: "invalid_nonce" },
    ],
    [
      "a challenge with a description",
      {
        body: { detail: "x" },
        status: 401,
        headers: { "www-authenticate": 'DIDWba error="invalid_did", error_description="no document"' },
      },
      { message: "invalid_did: no document" },
    ],
    [
      "a challenge without an error",
      { body: {}, status: 401, headers: { "www-authenticate": 'DIDWba realm="r"' } },
      { code: "unauthenticated" },
    ],
  ])("%s", (_, { body, status, headers }, error) => {
    expect(errorFromHttp(body, status, headers)).toMatchObject(error);
  });
});
