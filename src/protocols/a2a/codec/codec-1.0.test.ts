import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AgentEvent, Loss, Operation } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import type { DecodeFacts } from "../dialect.js";
import type { OperationName } from "../operations.js";
import { v1 } from "./codec-1.0.js";

interface Step {
  readonly step: string;
  readonly request?: { readonly method: OperationName; readonly params: unknown };
  readonly response?: { readonly result?: unknown };
  readonly events?: readonly { readonly result: unknown }[];
}
const steps: readonly Step[] = JSON.parse(readFileSync(new URL("../fixtures/json-rpc-1.0.json", import.meta.url), "utf8"));
const step = (name: string): Step => {
  const found = steps.find((one) => one.step === name);
  if (found === undefined) throw new Error(`no step ${name}`);
  return found;
};

const losses: Loss[] = [];
const reportLoss = (loss: Loss): void => void losses.push(loss);
const facts: DecodeFacts = { now: 1730000000123, src: "caller", dst: "agent", partsPerMessage: 4, reportLoss };
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const decode = (name: OperationName, params: unknown): Operation => v1.decodeRequest(name, params, facts);
const send = (message: unknown, more: object = {}): Operation => decode("SendMessage", { message, ...more });
const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hi" }] };
const problemOf = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof DecodeProblem) return thrown.message;
    throw thrown;
  }
  return "no problem";
};

describe("decodeRequest", () => {
  test("a recorded SendMessage is this envelope", () => {
    const { request } = step("send, answered by a message");
    expect(decode("SendMessage", request?.params)).toEqual({
      kind: "send",
      envelope: {
        id: "m-hello",
        ts: 1730000000.123,
        src: "caller",
        dst: "agent",
        intent: "",
        role: "user",
        content: [{ kind: "text", text: "hello" }],
        context: { sessionId: "c-4" },
        meta: {},
        references: ["t-0"],
        metadata: { k: [1, null, { a: true }] },
      },
      delivery: "answer",
      task: "auto",
      historyLength: 2,
      outputModes: ["text/plain"],
      metadata: { who: "me" },
    });
  });

  test("parts of every kind", () => {
    const { request } = step("send, answered by a task");
    const operation = decode("SendMessage", request?.params);
    expect(operation).toMatchObject({
      envelope: {
        content: [
          { kind: "text", text: "work" },
          { kind: "raw", bytes: new Uint8Array([1, 2, 3]), name: "b.bin", mediaType: "application/octet-stream" },
          { kind: "data", data: { n: 1 }, mediaType: "application/json", metadata: { p: 1 } },
        ],
      },
    });
  });

  test("null data and empty text are legal parts", () => {
    expect(send({ ...message, parts: [{ data: null }, { text: "" }] })).toMatchObject({
      envelope: {
        content: [
          { kind: "data", data: null },
          { kind: "text", text: "" },
        ],
      },
    });
  });

  test("snake_case, enum numbers, decimal strings and nulls are read like ProtoJSON", () => {
    const given = {
      tenant: null,
      message: {
        message_id: "m-1",
        context_id: "c",
        task_id: "t",
        role: 1,
        parts: [{ url: "u:1", media_type: "a/b", text: null, raw: null }],
        metadata: null,
        reference_task_ids: ["r"],
        unknown_member: 1,
      },
      configuration: { history_length: "3", return_immediately: true, accepted_output_modes: ["x/y"] },
    };
    expect(decode("SendMessage", given)).toMatchObject({
      envelope: {
        id: "m-1",
        role: "user",
        context: { sessionId: "c", taskId: "t" },
        content: [{ kind: "url", url: "u:1", mediaType: "a/b" }],
        references: ["r"],
        metadata: undefined,
      },
      delivery: "accepted",
      historyLength: 3,
      outputModes: ["x/y"],
    });
  });

  test("the delivery follows from operation and configuration", () => {
    const later = { configuration: { returnImmediately: true } };
    expect(decode("SendMessage", { message })).toMatchObject({ delivery: "answer" });
    expect(decode("SendMessage", { message, ...later })).toMatchObject({ delivery: "accepted" });
    expect(decode("SendStreamingMessage", { message, ...later })).toMatchObject({ delivery: "stream" });
  });

  test("a push config inside a send belongs to the message's task", () => {
    const push = { url: "https://hook.example", authentication: { scheme: "Bearer", credentials: "s" } };
    const operation = send({ ...message, taskId: "t-1" }, { configuration: { taskPushNotificationConfig: push } });
    expect(operation).toMatchObject({
      push: { taskId: "t-1", id: "", url: "https://hook.example", authentication: { scheme: "Bearer", credentials: "s" } },
    });
  });

  test("the other operations", () => {
    expect(decode("GetTask", { id: "t", historyLength: 0 })).toEqual({ kind: "task.get", taskId: "t", historyLength: 0 });
    expect(decode("CancelTask", { id: "t", metadata: { why: 1 } })).toEqual({
      kind: "task.cancel",
      taskId: "t",
      metadata: { why: 1 },
    });
    expect(decode("SubscribeToTask", { id: "t" })).toEqual({ kind: "task.subscribe", taskId: "t", follow: true });
    expect(decode("GetExtendedAgentCard", undefined)).toEqual({ kind: "card", extended: true });
    expect(decode("GetTaskPushNotificationConfig", { taskId: "t", id: "p" })).toEqual({ kind: "push.get", taskId: "t", id: "p" });
    expect(decode("DeleteTaskPushNotificationConfig", { taskId: "t", id: "p" })).toEqual({
      kind: "push.delete",
      taskId: "t",
      id: "p",
    });
    expect(decode("ListTaskPushNotificationConfigs", { taskId: "t", pageSize: 0 })).toEqual({ kind: "push.list", taskId: "t" });
  });

  test("a list from a query string", () => {
    const query = {
      contextId: "c-4",
      status: "TASK_STATE_WORKING",
      pageSize: "20",
      historyLength: "0",
      includeArtifacts: "true",
      statusTimestampAfter: "2025-10-28T10:30:00Z",
      idempotencyKey: "k",
    };
    expect(decode("ListTasks", query)).toEqual({
      kind: "task.list",
      contextId: "c-4",
      idempotencyKey: "k",
      state: "working",
      changedSince: 1761647400000,
      pageSize: 20,
      historyLength: 0,
      artifacts: true,
    });
    expect(decode("ListTasks", { status: 0 })).toEqual({ kind: "task.list" });
    expect(decode("ListTasks", {})).toEqual({ kind: "task.list" });
  });
});

describe("invalid requests, and the member they name", () => {
  test.each<[string, unknown, string]>([
    ["no message", {}, "message is missing; an object is expected"],
    ["a list for params", [], "params must be an object, not an array"],
    ["no id", { message: { ...message, messageId: "" } }, "message.messageId must not be empty"],
    ["no role", { message: { messageId: "m", parts: [] } }, "message.role is missing; ROLE_USER or ROLE_AGENT is expected"],
    [
      "an unspecified role",
      { message: { ...message, role: "ROLE_UNSPECIFIED" } },
      'message.role must be ROLE_USER or ROLE_AGENT, not "ROLE_UNSPECIFIED"',
    ],
    ["no parts", { message: { messageId: "m", role: 1 } }, "message.parts is missing; an array is expected"],
    ["empty parts", { message: { ...message, parts: [] } }, "message.parts must have at least one part"],
    [
      "too many parts",
      { message: { ...message, parts: Array(5).fill({ text: "x" }) } },
      "message.parts has 5 parts; at most 4 are read",
    ],
    [
      "an empty part",
      { message: { ...message, parts: [{ text: "a" }, { text: "b" }, {}] } },
      "message.parts[2] must have exactly one of text, raw, url, data, but has none",
    ],
    [
      "a doubled part",
      { message: { ...message, parts: [{ text: "", data: null }] } },
      "message.parts[0] must have exactly one of text, raw, url, data, but has text and data",
    ],
    [
      "a part of the wrong type",
      { message: { ...message, parts: [{ text: 5 }] } },
      "message.parts[0].text must be a string, not a number",
    ],
    ["bad base64", { message: { ...message, parts: [{ raw: "####" }] } }, "message.parts[0].raw is not base64 (at character 0)"],
    ["metadata of the wrong type", { message: { ...message, metadata: [] } }, "message.metadata must be an object, not an array"],
    [
      "a negative history",
      { message, configuration: { historyLength: -1 } },
      "configuration.historyLength must not be negative, but is -1",
    ],
    [
      "a push config without address",
      { message, configuration: { taskPushNotificationConfig: {} } },
      "configuration.taskPushNotificationConfig.url is missing; a string is expected",
    ],
  ])("%s", (_, params, want) => {
    expect(problemOf(() => decode("SendMessage", params))).toBe(want);
  });

  test.each<[OperationName, unknown, string]>([
    ["GetTask", {}, "id is missing; a string is expected"],
    ["GetTask", { id: "t", historyLength: 1.5 }, "historyLength must be a whole number, not a fraction"],
    ["ListTasks", { pageSize: "many" }, "pageSize must be a whole number, not a string"],
    ["ListTasks", { status: "TASK_STATE_BANANA" }, 'status must be a task state, not "TASK_STATE_BANANA"'],
    ["ListTasks", { status: "constructor" }, 'status must be a task state, not "constructor"'],
    [
      "ListTasks",
      { statusTimestampAfter: "yesterday" },
      "statusTimestampAfter must be a UTC timestamp such as 2025-10-28T10:30:00.000Z",
    ],
    ["ListTasks", { includeArtifacts: "maybe" }, "includeArtifacts must be true or false"],
    ["CreateTaskPushNotificationConfig", { url: "https://x" }, "taskId is missing; a string is expected"],
  ])("%s %j", (name, params, want) => {
    expect(problemOf(() => decode(name, params))).toBe(want);
  });

  test("too many parts have their own code, and 0.3 has no list", () => {
    const many = { message: { ...message, parts: Array(5).fill({ text: "x" }) } };
    expect(() => decode("SendMessage", many)).toThrow(expect.objectContaining({ field: "message.parts", code: "too_large" }));
  });
});

describe("results", () => {
  test("a recorded task answer is this event", () => {
    const { request, response } = step("send, answered by a task");
    const event = v1.decodeResult(decode("SendMessage", request?.params), response?.result, { ...facts, src: "peer", dst: "me" });
    expect(event).toEqual({
      kind: "task",
      task: {
        id: "t-1",
        contextId: "c-4",
        status: { state: "completed", at: 1790928930250 },
        artifacts: [
          {
            id: "a-1",
            name: "summary",
            description: "what it says",
            parts: [
              { kind: "text", text: "One line, " },
              { kind: "text", text: "no errors." },
              { kind: "raw", bytes: new TextEncoder().encode("log line"), name: "app.log", mediaType: "text/plain" },
            ],
          },
        ],
        history: [
          expect.objectContaining({ id: "m-work", role: "user", src: "me", dst: "peer" }),
          expect.objectContaining({ id: "w-1", role: "agent", src: "peer", dst: "me" }),
        ],
        metadata: { cost: 1.5, tokens: 7 },
      },
    });
  });

  test.each(["send, answered by a message", "send, answered by a task", "get", "list", "set push", "get push", "list push"])(
    "%s: round-trips",
    (name) => {
      const { request, response } = step(name);
      const operation = decode(request?.method ?? "GetTask", request?.params);
      const event = v1.decodeResult(operation, response?.result, facts);
      expect(wire(v1.encodeResult(operation, event, reportLoss))).toEqual(response?.result);
    },
  );

  test("every recorded stream event round-trips", () => {
    const items = step("stream").events?.map(({ result }) => result) ?? [];
    expect(items).toHaveLength(5);
    expect(items.map((item) => wire(v1.encodeStreamItem(v1.decodeStreamItem(item, facts), reportLoss)))).toEqual(items);
  });

  test("every recorded request round-trips", () => {
    for (const { request } of steps) {
      const encoded = v1.encodeRequest(decode(request?.method ?? "GetTask", request?.params), undefined, reportLoss);
      const { configuration, ...rest } = (request?.params ?? {}) as { configuration?: object };
      // An empty configuration is omitted.
      const sent = configuration === undefined || Object.keys(configuration).length === 0 ? rest : { ...rest, configuration };
      expect(wire(encoded)).toEqual({ name: request?.method, params: sent });
    }
  });

  test("a list has all four members; artifacts on every task or on none", () => {
    const task = { id: "t", contextId: "c", status: { state: "working", at: 0 }, artifacts: [], history: [] } as const;
    const event: AgentEvent = { kind: "tasks", tasks: [task], nextPageToken: "", pageSize: 50, totalSize: 0 };
    const status = { state: "TASK_STATE_WORKING", timestamp: "1970-01-01T00:00:00.000Z" };
    const answer = (artifacts: boolean | undefined) => wire(v1.encodeResult({ kind: "task.list", artifacts }, event, reportLoss));
    expect(answer(undefined)).toEqual({
      tasks: [{ id: "t", contextId: "c", status }],
      nextPageToken: "",
      pageSize: 50,
      totalSize: 0,
    });
    expect(answer(true)).toEqual({
      tasks: [{ id: "t", contextId: "c", status, artifacts: [] }],
      nextPageToken: "",
      pageSize: 50,
      totalSize: 0,
    });
  });

  test("a delete returns an empty object, and null is accepted", () => {
    const operation = decode("DeleteTaskPushNotificationConfig", { taskId: "t", id: "p" });
    expect(wire(v1.encodeResult(operation, { kind: "done" }, reportLoss))).toEqual({});
    expect([{}, null, undefined].map((result) => v1.decodeResult(operation, result, facts).kind)).toEqual([
      "done",
      "done",
      "done",
    ]);
  });

  test("a result must have exactly one member", () => {
    const ask = send(message);
    const update = { statusUpdate: { taskId: "t", contextId: "c", status: { state: 2 } } };
    expect(problemOf(() => v1.decodeResult(ask, {}, facts))).toBe(
      "result must have exactly one of task, message, statusUpdate, artifactUpdate, but has none",
    );
    expect(problemOf(() => v1.decodeResult(ask, update, facts))).toBe("result must be a task or a message, not an update");
    expect(problemOf(() => v1.decodeStreamItem({ task: {}, message: {} }, facts))).toContain("but has 2");
    expect(problemOf(() => v1.decodeStreamItem({ task: { id: "t", status: { state: "DONE" } } }, facts))).toBe(
      'result.task.status.state must be a task state, not "DONE"',
    );
  });

  test("canceling is sent as working, and reported", () => {
    losses.length = 0;
    const item = v1.encodeStreamItem(
      { kind: "status", taskId: "t", contextId: "c", status: { state: "canceling", at: 0 } },
      reportLoss,
    );
    expect(item).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_WORKING" } } });
    expect(losses).toEqual([
      { protocol: "a2a", path: "task.status.state", valueKind: "canceling", reason: "A2A has no such state; sent as working" },
    ]);
  });

  test("the error of a failed task round-trips, with or without its own message", () => {
    const error = { code: "lost_place", message: "the run is gone" } as const;
    const bare: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "failed", at: 1000, error } };
    const item = wire(v1.encodeStreamItem(bare, reportLoss));
    expect(item).toEqual({
      statusUpdate: {
        taskId: "t",
        contextId: "c",
        status: {
          state: "TASK_STATE_FAILED",
          timestamp: "1970-01-01T00:00:01.000Z",
          message: {
            messageId: "t-failure",
            contextId: "c",
            taskId: "t",
            role: "ROLE_AGENT",
            parts: [{ text: "the run is gone" }],
            metadata: { "urn:koine:failure:1": { code: "lost_place", message: "the run is gone", alone: true } },
          },
        },
      },
    });
    expect(v1.decodeStreamItem(item, facts)).toEqual(bare);
    const foreign = v1.decodeStreamItem({ statusUpdate: { taskId: "t", contextId: "c", status: { state: 4 } } }, facts);
    expect(foreign).toMatchObject({ status: { state: "failed", error: undefined } });
  });
});

describe("tenants, and operations that A2A lacks", () => {
  test("the tenant is in every request", () => {
    expect(v1.encodeRequest({ kind: "task.get", taskId: "t" }, "acme", reportLoss)).toEqual({
      name: "GetTask",
      params: { tenant: "acme", id: "t" },
    });
    expect(v1.tenantOf({ tenant: "acme" })).toBe("acme");
    expect([undefined, null, {}, { tenant: "" }].map((params) => v1.tenantOf(params))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("an unsupported operation", () => {
    const none: Operation[] = [{ kind: "ping" }, { kind: "session.close", sessionId: "s" }, { kind: "card", extended: false }];
    expect(none.map((operation) => v1.encodeRequest(operation, undefined, reportLoss))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
