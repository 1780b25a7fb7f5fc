import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentError, ERRORS, type ErrorCode } from "../../envelope/index.js";
import { errorFromRest, errorFromRpc, restErrorOf, rpcErrorOf } from "./errors.js";

const codes = Object.keys(ERRORS) as ErrorCode[];
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const fixture = (name: string): readonly { step: string; status: number; response: { error?: unknown } }[] =>
  JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
const answerTo = (name: string, step: string) => {
  const found = fixture(name).find((one) => one.step === step);
  if (found === undefined) throw new Error(`no step ${step}`);
  return found;
};
const finished = new AgentError("not_cancelable", "task t-91 already finished", { detail: { taskId: "t-91" } });
const info = (reason: string, code: string, metadata: object = {}) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "a2a-protocol.org",
  metadata: { ...metadata, koineCode: code },
});

describe("rpcErrorOf", () => {
  // A2A 1.0 §9.5
  test("an A2A error", () => {
    expect(rpcErrorOf(finished, "1.0")).toEqual({
      code: -32002,
      message: "task t-91 already finished",
      data: [info("TASK_NOT_CANCELABLE", "not_cancelable", { taskId: "t-91" })],
    });
  });

  test("an invalid field is named in a BadRequest", () => {
    const error = new AgentError("invalid_message", "message.parts must have at least one part", { field: "message.parts" });
    expect(rpcErrorOf(error, "1.0")).toEqual({
      code: -32602,
      message: "message.parts must have at least one part",
      data: [
        { ...info("INVALID_PARAMS", "invalid_message"), domain: "koine" },
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "message.parts", description: "message.parts must have at least one part" }],
        },
      ],
    });
  });

  test("0.3 has no -32008 and no -32009", () => {
    const sent = (["extension_required", "unsupported_version", "card_not_configured", "decode"] as const).map(
      (code) => rpcErrorOf(new AgentError(code, "x"), "0.3").code,
    );
    expect(sent).toEqual([-32004, -32004, -32007, -32700]);
  });

  // The 0.3 client of Go decodes `data` into a map, and fails for an array.
  test("0.3 has an object for data, with further details inside", () => {
    const error = new AgentError("invalid_message", "must be text", { field: "message.parts" });
    expect(rpcErrorOf(finished, "0.3").data).toEqual(info("TASK_NOT_CANCELABLE", "not_cancelable", { taskId: "t-91" }));
    expect(rpcErrorOf(error, "0.3").data).toEqual({
      ...info("INVALID_PARAMS", "invalid_message"),
      domain: "koine",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "message.parts", description: "must be text" }],
        },
      ],
    });
  });

  test("the cause is not sent", () => {
    const error = AgentError.from(new Error("password=hunter2"));
    expect(JSON.stringify(rpcErrorOf(error, "1.0"))).not.toContain("hunter2");
  });
});

describe("restErrorOf", () => {
  // A2A 1.0.1 §11.6
  test("the current profile", () => {
    expect(restErrorOf(finished, "1.0", "1.0.1")).toEqual({
      status: 400,
      body: {
        error: {
          code: 400,
          status: "FAILED_PRECONDITION",
          message: "task t-91 already finished",
          details: [info("TASK_NOT_CANCELABLE", "not_cancelable", { taskId: "t-91" })],
        },
      },
    });
  });

  test("the profile of the seed, with the problem members", () => {
    const { status, body } = restErrorOf(finished, "1.0", "1.0.0");
    expect(status).toBe(409);
    expect(body).toMatchObject({
      error: { code: 409, status: "FAILED_PRECONDITION" },
      type: "https://a2a-protocol.org/errors/task-not-cancelable",
      title: "Task not cancelable",
      status: 409,
      detail: "task t-91 already finished",
    });
    expect(restErrorOf(new AgentError("overloaded", "busy"), "1.0", "1.0.0").body).toMatchObject({
      type: "about:blank",
      status: 429,
    });
  });

  test("0.3: the names of generic errors are those of the SDKs", () => {
    const named = (code: ErrorCode) => restErrorOf(new AgentError(code, "x"), "0.3", "1.0.1").body["type"];
    expect([named("internal"), named("decode"), named("invalid_message")]).toEqual([
      "InternalError",
      "JSONParseError",
      "InvalidParamsError",
    ]);
  });

  test("0.3: the bare error", () => {
    expect(restErrorOf(finished, "0.3", "1.0.1")).toEqual({
      status: 409,
      body: {
        code: -32002,
        type: "TaskNotCancelableError",
        message: "task t-91 already finished",
        data: info("TASK_NOT_CANCELABLE", "not_cancelable", { taskId: "t-91" }),
      },
    });
  });
});

describe("every error code round-trips", () => {
  test.each(codes)("%s, through every binding", (code) => {
    const error = new AgentError(code, "words", { field: "message.parts[0]", detail: { taskId: "t" } });
    const old = restErrorOf(error, "1.0", "1.0.0");
    const now = restErrorOf(error, "1.0", "1.0.1");
    const legacy = restErrorOf(error, "0.3", "1.0.1");
    const back = [
      errorFromRpc(wire(rpcErrorOf(error, "1.0"))),
      errorFromRpc(wire(rpcErrorOf(error, "0.3"))),
      errorFromRest(old.status, wire(old.body)),
      errorFromRest(now.status, wire(now.body)),
      errorFromRest(legacy.status, wire(legacy.body)),
    ];
    expect(back.map((one) => [one.code, one.message, one.facts.field, one.facts.detail])).toEqual(
      Array(5).fill([code, "words", "message.parts[0]", { taskId: "t" }]),
    );
  });
});

describe("errors of other implementations", () => {
  test.each([
    ["json-rpc-1.0", "cancel what is finished", "not_cancelable"],
    ["json-rpc-1.0", "get what is not there", "task_not_found"],
    ["json-rpc-0.3", "cancel what is finished", "not_cancelable"],
    ["json-rpc-0.3", "get what is not there", "task_not_found"],
  ])("%s: %s is %s", (name, step, want) => {
    expect(errorFromRpc(answerTo(name, step).response.error).code).toBe(want);
  });

  test.each([
    ["rest-1.0", "cancel what is finished", "not_cancelable", 400],
    ["rest-1.0", "get what is not there", "task_not_found", 404],
    ["rest-0.3", "cancel what is finished", "not_cancelable", 409],
    ["rest-0.3", "get what is not there", "task_not_found", 404],
  ])("%s: %s is %s", (name, step, want, status) => {
    const answer = answerTo(name, step);
    const error = errorFromRest(answer.status, answer.response);
    expect([error.code, error.facts.status]).toEqual([want, status]);
  });

  test("reading order: ErrorInfo, problem type, JSON-RPC code, status", () => {
    const type = "https://a2a-protocol.org/errors/version-not-supported";
    const details = [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "UNSUPPORTED_OPERATION", domain: "a2a-protocol.org" },
    ];
    expect(errorFromRest(404, { type, error: { code: -32001, details } }).code).toBe("unsupported");
    expect(errorFromRest(404, { type, code: -32001 }).code).toBe("unsupported_version");
    expect(errorFromRest(500, { code: -32001 }).code).toBe("task_not_found");
    expect(errorFromRest(404, {}).code).toBe("not_found");
  });

  // As the Python SDK 1.3.0 writes and reads it for 0.3.
  test("0.3 REST of Python names the SDK's class", () => {
    expect(errorFromRest(404, { type: "TaskNotFoundError", message: "no" }).code).toBe("task_not_found");
    expect(errorFromRest(400, { type: "PushNotificationNotSupportedError", message: "no" }).code).toBe("push_unsupported");
    expect(errorFromRest(500, { type: "SurpriseError", message: "no" }).code).toBe("internal");
  });

  test("a reason of another domain is ignored", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TASK_NOT_FOUND", domain: "other.example" }];
    expect(errorFromRest(503, { error: { details } }).code).toBe("unavailable");
  });

  test.each<[number, unknown, ErrorCode]>([
    [401, "go away", "unauthenticated"],
    [403, null, "forbidden"],
    [418, {}, "invalid_message"],
    [429, {}, "overloaded"],
    [500, {}, "internal"],
    [500, { error: { status: "UNAVAILABLE" } }, "unavailable"],
    [502, "<html>", "unavailable"],
    [504, [], "deadline"],
  ])("HTTP %d with %j is %s", (status, body, want) => {
    expect(errorFromRest(status, body).code).toBe(want);
  });

  test("Retry-After, as seconds and as a date", () => {
    const date = "Wed, 21 Oct 2026 07:28:00 GMT";
    expect(errorFromRest(503, {}, { "retry-after": "7" }).facts.retryAfterMs).toBe(7000);
    expect(errorFromRest(503, {}, { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date }).facts.retryAfterMs).toBe(30_000);
    expect(errorFromRest(503, {}, { "retry-after": "soon" }).facts.retryAfterMs).toBeUndefined();
  });

  test("an unknown Koine code is ignored", () => {
    const data = [info("TASK_NOT_FOUND", "constructor")];
    expect(errorFromRpc({ code: -32603, message: "x", data }).code).toBe("task_not_found");
  });

  test("total: any JSON results in an error", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 400, max: 599 }), (body, status) => {
        expect(errorFromRpc(body)).toBeInstanceOf(AgentError);
        expect(errorFromRest(status, body)).toBeInstanceOf(AgentError);
        expect(errorFromRest(status, { error: { details: [body], data: body, message: body } })).toBeInstanceOf(AgentError);
      }),
    );
  });
});
