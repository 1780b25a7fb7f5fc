import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import type { AgentEvent, Envelope, Loss, Operation, State } from "../../../envelope/index.js";
import type { DecodeFacts } from "../dialect.js";
import { OPERATIONS, type OperationName } from "../operations.js";
import { v03 } from "./codec-0.3.js";

interface Step {
  readonly step: string;
  readonly request: { readonly method: string; readonly params: { readonly configuration?: object } };
  readonly response?: { readonly result?: unknown };
  readonly events?: readonly { readonly result: unknown }[];
}
const steps: readonly Step[] = JSON.parse(readFileSync(new URL("../fixtures/json-rpc-0.3.json", import.meta.url), "utf8"));
const step = (name: string): Step => {
  const found = steps.find((one) => one.step === name);
  if (found === undefined) throw new Error(`no step ${name}`);
  return found;
};
const nameOf = (method: string): OperationName => {
  const [name] = Object.entries(OPERATIONS).find(([, { v03: old }]) => old === method) ?? [];
  if (name === undefined) throw new Error(`no operation for ${method}`);
  return name as OperationName;
};

const losses: Loss[] = [];
const reportLoss = (loss: Loss): void => void losses.push(loss);
const facts: DecodeFacts = { now: 1730000000123, src: "caller", dst: "agent", partsPerMessage: 4, reportLoss };
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const decode = (name: OperationName, params: unknown): Operation => v03.decodeRequest(name, params, facts);
const message = { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text: "hi" }] };
const envelope: Envelope = {
  id: "m",
  ts: 1,
  src: "",
  dst: "",
  intent: "",
  role: "user",
  content: [{ kind: "text", text: "hi" }],
  context: {},
  meta: {},
};
const send: Operation = { kind: "send", envelope, delivery: "answer", task: "auto" };

beforeEach(() => {
  losses.length = 0;
});

describe("requests of 0.3 on JSON-RPC", () => {
  test("a recorded message/send is this envelope", () => {
    expect(decode("SendMessage", step("send, answered by a task").request.params)).toEqual({
      kind: "send",
      envelope: {
        id: "m-work",
        ts: 1730000000.123,
        src: "caller",
        dst: "agent",
        intent: "",
        role: "user",
        content: [
          { kind: "text", text: "work" },
          { kind: "raw", bytes: new Uint8Array([1, 2, 3]), name: "b.bin", mediaType: "application/octet-stream" },
          { kind: "data", data: { n: 1 }, metadata: { p: 1 } },
        ],
        context: { sessionId: "c-4" },
        meta: {},
      },
      delivery: "answer",
      task: "auto",
    });
  });

  test("every recorded request round-trips", () => {
    for (const { request } of steps) {
      const name = nameOf(request.method);
      expect(wire(v03.encodeRequest(decode(name, request.params), undefined, reportLoss))).toEqual({
        name,
        params: request.params,
      });
    }
    expect(losses).toEqual([]);
  });

  test("blocking is always sent, and true if absent", () => {
    expect(v03.encodeRequest(send, undefined, reportLoss)).toMatchObject({ params: { configuration: { blocking: true } } });
    expect(v03.encodeRequest({ ...send, delivery: "accepted" }, undefined, reportLoss)).toMatchObject({
      params: { configuration: { blocking: false } },
    });
    expect(decode("SendMessage", { message })).toMatchObject({ delivery: "answer" });
    expect(decode("SendMessage", { message, configuration: {} })).toMatchObject({ delivery: "answer" });
    expect(decode("SendMessage", { message, configuration: { blocking: false } })).toMatchObject({ delivery: "accepted" });
    expect(decode("SendStreamingMessage", { message })).toMatchObject({ delivery: "stream" });
  });

  // As in the official SDK 0.3.14: a config set without an id is found without one.
  test("a push config without an id has the id of its task", () => {
    const set = { taskId: "t", pushNotificationConfig: { url: "https://hook.example" } };
    expect(decode("CreateTaskPushNotificationConfig", set)).toMatchObject({ config: { taskId: "t", id: "t" } });
    expect(decode("GetTaskPushNotificationConfig", { id: "t" })).toEqual({ kind: "push.get", taskId: "t", id: "t" });
  });

  test.each<[unknown, unknown]>([
    [{}, undefined],
    [{ schemes: [] }, undefined],
    [
      { schemes: ["Bearer"], credentials: "c" },
      { scheme: "Bearer", credentials: "c" },
    ],
  ])("the push authentication %j", (authentication, read) => {
    const push = { taskId: "t", pushNotificationConfig: { url: "https://hook.example", authentication } };
    expect(decode("CreateTaskPushNotificationConfig", push)).toMatchObject({ config: { authentication: read } });
  });

  test("get and delete of a push config name the task `id`", () => {
    const params = { id: "t", pushNotificationConfigId: "p" };
    expect(decode("GetTaskPushNotificationConfig", params)).toEqual({ kind: "push.get", taskId: "t", id: "p" });
    expect(decode("DeleteTaskPushNotificationConfig", params)).toEqual({ kind: "push.delete", taskId: "t", id: "p" });
    expect(decode("ListTaskPushNotificationConfigs", { id: "t" })).toEqual({ kind: "push.list", taskId: "t" });
  });

  test.each<[unknown, string]>([
    [{ ...message, parts: [{ kind: "video" }] }, 'message.parts[0].kind must be text, file or data, not "video"'],
    [{ ...message, parts: [{ text: "x" }] }, "message.parts[0].kind must be text, file or data, not nothing"],
    [
      { ...message, parts: [{ kind: "file", file: {} }] },
      "message.parts[0].file must have exactly one of bytes and uri, but has none",
    ],
    [
      { ...message, parts: [{ kind: "file", file: { bytes: "", uri: "u" } }] },
      "message.parts[0].file must have exactly one of bytes and uri, but has both",
    ],
    [{ ...message, parts: [{ kind: "data", data: 5 }] }, "message.parts[0].data must be an object, not a number"],
    [{ ...message, role: "ROLE_USER" }, 'message.role must be user or agent, not "ROLE_USER"'],
  ])("rejects %j", (given, want) => {
    expect(() => decode("SendMessage", { message: given })).toThrow(want);
  });

  test("a list of tasks is unsupported", () => {
    expect(v03.encodeRequest({ kind: "task.list" }, undefined, reportLoss)).toBeUndefined();
    expect(() => decode("ListTasks", {})).toThrow(expect.objectContaining({ code: "unsupported_method" }));
  });
});

describe("results of 0.3 on JSON-RPC", () => {
  test.each([
    "send, answered by a message",
    "send, answered by a task",
    "get",
    "set push",
    "get push",
    "list push",
    "delete push",
  ])("%s: round-trips", (name) => {
    const { request, response } = step(name);
    const operation = decode(nameOf(request.method), request.params);
    expect(wire(v03.encodeResult(operation, v03.decodeResult(operation, response?.result, facts), reportLoss))).toEqual(
      response?.result,
    );
  });

  test("every recorded stream event round-trips", () => {
    const items = step("stream").events?.map(({ result }) => result) ?? [];
    expect(items).toHaveLength(5);
    expect(items.map((item) => wire(v03.encodeStreamItem(v03.decodeStreamItem(item, facts), reportLoss)))).toEqual(items);
  });

  test.each<[State, string, boolean]>([
    ["submitted", "submitted", false],
    ["working", "working", false],
    ["canceling", "working", false],
    ["input-required", "input-required", true],
    ["auth-required", "auth-required", false],
    ["completed", "completed", true],
    ["canceled", "canceled", true],
    ["failed", "failed", true],
    ["rejected", "rejected", true],
    ["unknown", "unknown", false],
  ])("%s is written as %s, final %s", (state, want, final) => {
    const event: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state, at: 0 } };
    expect(v03.encodeStreamItem(event, reportLoss)).toMatchObject({ kind: "status-update", status: { state: want }, final });
  });

  test("an object of unknown kind is rejected by name", () => {
    expect(() => v03.decodeStreamItem({ kind: "poem" }, facts)).toThrow(
      'result.kind must be message, task, status-update or artifact-update, not "poem"',
    );
  });
});

describe("what 0.3 cannot carry", () => {
  test("data that is not an object is wrapped, with the flag of the SDKs, and restored", () => {
    const content = [
      { kind: "data", data: [1, 2] },
      { kind: "data", data: null, metadata: { mine: 1 } },
    ] as const;
    const params = wire(v03.encodeRequest({ ...send, envelope: { ...envelope, content } }, undefined, reportLoss)?.params);
    expect(params).toMatchObject({
      message: {
        parts: [
          { kind: "data", data: { value: [1, 2] }, metadata: { data_part_compat: true } },
          { kind: "data", data: { value: null }, metadata: { mine: 1, data_part_compat: true } },
        ],
      },
    });
    expect(decode("SendMessage", params)).toMatchObject({ envelope: { content } });
    expect(losses).toEqual([]);
  });

  test("tenant, and the labels of text and data parts, are reported as lost", () => {
    const content = [
      { kind: "text", text: "x", name: "n", mediaType: "text/markdown" },
      { kind: "data", data: {}, mediaType: "a/b" },
    ] as const;
    v03.encodeRequest({ ...send, envelope: { ...envelope, content } }, "acme", reportLoss);
    expect(losses.map(({ path }) => path)).toEqual([
      "operation.tenant",
      "message.parts[0].mediaType",
      "message.parts[0].name",
      "message.parts[1].mediaType",
    ]);
    expect(losses.map(({ protocol }) => protocol)).toEqual(["a2a", "a2a", "a2a", "a2a"]);
  });

  test("of several push schemes the first is used, which is reported", () => {
    const push = { url: "https://hook.example", authentication: { schemes: ["Bearer", "Basic"] } };
    const operation = decode("CreateTaskPushNotificationConfig", { taskId: "t", pushNotificationConfig: push });
    expect(operation).toMatchObject({ config: { taskId: "t", id: "t", authentication: { scheme: "Bearer" } } });
    expect(losses.map(({ path }) => path)).toEqual(["push.authentication.scheme"]);
  });
});
