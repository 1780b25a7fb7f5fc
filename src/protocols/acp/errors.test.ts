import { describe, expect, test } from "vitest";
import { AgentError, ERRORS, type ErrorCode } from "../../envelope/index.js";
import { errorFromWire, errorStatus, failureFrom, sessionMismatch, wireErrorOf } from "./errors.js";
import { WIRE_ERROR_CODES } from "./wire.js";

const codes = Object.keys(ERRORS) as ErrorCode[];

describe("every error code", () => {
  test.each(codes)("%s round-trips, with a code that the TypeScript client knows", (code) => {
    const error = new AgentError(code, "because", { field: "input[0]", detail: { task: "t" } });
    const body = JSON.parse(JSON.stringify(wireErrorOf(error)));
    expect(WIRE_ERROR_CODES).toContain(body.code);
    expect(errorStatus(error)).toBeGreaterThanOrEqual(400);
    const back = errorFromWire(body, errorStatus(error));
    expect([back.code, back.message, back.facts.field, back.facts.detail]).toEqual([code, "because", "input[0]", { task: "t" }]);
  });
});

// As the SDK server answers.
test.each<[ErrorCode, number, string]>([
  ["not_found", 404, "not_found"],
  ["task_not_found", 404, "not_found"],
  ["invalid_message", 422, "invalid_input"],
  ["decode", 422, "invalid_input"],
  ["not_cancelable", 403, "server_error"],
  ["task_closed", 403, "server_error"],
  ["unsupported_method", 405, "server_error"],
  ["internal", 500, "server_error"],
])("%s is HTTP %i and %s", (code, status, sent) => {
  const error = new AgentError(code, "x");
  expect([errorStatus(error), wireErrorOf(error).code]).toEqual([status, sent]);
});

test("two sessions in one request are HTTP 400", () => {
  expect([errorStatus(sessionMismatch()), wireErrorOf(sessionMismatch())]).toMatchObject([
    400,
    { code: "invalid_input", message: "Session ID mismatch" },
  ]);
});

describe("an error of another implementation", () => {
  test.each<[string, unknown, number | undefined, string]>([
    ["by its code", { code: "invalid_input", message: "no" }, undefined, "invalid_message"],
    ["by its status", "<html>", 503, "unavailable"],
    ["by neither", null, 500, "internal"],
    ["with an unknown code", { code: "teapot", message: "no", data: { code: "teapot" } }, 418, "invalid_message"],
    ["with a code of an object's own", { code: "server_error", data: { code: "constructor" } }, 500, "internal"],
  ])("%s", (_, body, status, code) => {
    expect(errorFromWire(body, status).code).toBe(code);
  });

  test("is truncated, and keeps its retry delay", () => {
    const error = errorFromWire({ code: "server_error", message: "x".repeat(9_999) }, 429, { "retry-after": "2" });
    expect([error.code, error.message.length, error.facts.retryAfterMs]).toEqual(["overloaded", 2_000, 2_000]);
  });

  test("of a run is the reason of its failure", () => {
    const losses: string[] = [];
    const reportLoss = ({ path }: { readonly path: string }): void => void losses.push(path);
    const plain = { code: "not_found", message: "no file" };
    expect(failureFrom({ ...plain, data: null }, reportLoss)).toEqual(plain);
    expect(failureFrom({ ...plain, data: { code: "not_found" } }, reportLoss)).toEqual(plain);
    expect(failureFrom({}, reportLoss)).toEqual({ code: "internal", message: "the run failed" });
    expect(losses).toEqual([]);
    expect(failureFrom({ ...plain, data: { path: "a.txt" } }, reportLoss)).toEqual(plain);
    expect(losses).toEqual(["task.status.error"]);
  });
});
