import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../transport/exchange.js";
import { checkPlainStatus, plainErrorFrom } from "./plain-error.js";

const answer = (status: number, body: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: new TextEncoder().encode(body),
});

describe("an unsuccessful response of a plain endpoint", () => {
  test.each([
    [
      "with a reason",
      answer(503, '{"error":{"reason":"overloaded","message":"later","field":"x"}}', { "retry-after": "2" }),
      { code: "overloaded", message: "later", facts: { sent: "maybe", status: 503, field: "x", retryAfterMs: 2_000 } },
    ],
    ["with a text", answer(404, '{"error":"nobody"}'), { code: "not_found", message: "nobody" }],
    ["without JSON", answer(500, "<html>"), { code: "internal", message: "the peer answered with HTTP status 500" }],
    ["with an unknown status", answer(418, "{}"), { code: "invalid_message", facts: { sent: "maybe", status: 418 } }],
    ["with a list", answer(599, "[]"), { code: "internal", facts: { sent: "maybe", status: 599 } }],
    ["with an unknown reason", answer(429, '{"error":{"reason":"tea","message":""}}'), { code: "overloaded" }],
  ])("%s", (_, response, error) => {
    expect(() => checkPlainStatus(response)).toThrow(expect.objectContaining(error));
  });

  test("is none below 300", () => {
    expect(checkPlainStatus(answer(200, "{}"))).toBeUndefined();
  });
});

test("an error inside a successful response has no status, and long texts are cut", () => {
  expect(plainErrorFrom(undefined)).toMatchObject({ code: "internal", message: "the peer reported an error" });
  expect(plainErrorFrom("x".repeat(3_000)).message).toHaveLength(2_000);
  expect(plainErrorFrom({ field: "f".repeat(3_000) }).facts.field).toHaveLength(2_000);
});
