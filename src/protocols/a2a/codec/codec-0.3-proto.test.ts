import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import type { Envelope, Loss, Operation } from "../../../envelope/index.js";
import type { DecodeFacts } from "../dialect.js";
import type { OperationName } from "../operations.js";
import { v03Proto } from "./codec-0.3-proto.js";

interface Step {
  readonly step: string;
  readonly request?: { readonly configuration?: object };
  readonly response?: unknown;
  readonly events?: readonly unknown[];
}
const steps: readonly Step[] = JSON.parse(readFileSync(new URL("../fixtures/rest-0.3.json", import.meta.url), "utf8"));
const step = (name: string): Step => {
  const found = steps.find((one) => one.step === name);
  if (found === undefined) throw new Error(`no step ${name}`);
  return found;
};

const losses: Loss[] = [];
const reportLoss = (loss: Loss): void => void losses.push(loss);
const facts: DecodeFacts = { now: 1730000000123, src: "caller", dst: "agent", partsPerMessage: 4, reportLoss };
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const decode = (name: OperationName, params: unknown): Operation => v03Proto.decodeRequest(name, params, facts);
const message = { messageId: "m-1", role: "ROLE_USER", content: [{ text: "hi" }] };
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
const config = { taskId: "t", id: "p", url: "https://hook.example", token: undefined, authentication: undefined };

beforeEach(() => {
  losses.length = 0;
});

describe("requests of 0.3 on REST", () => {
  test("a recorded body is this operation", () => {
    expect(decode("SendMessage", step("send, answered by a task").request)).toMatchObject({
      kind: "send",
      envelope: {
        id: "m-work",
        role: "user",
        content: [
          { kind: "text", text: "work" },
          { kind: "raw", bytes: new Uint8Array([1, 2, 3]), mediaType: "application/octet-stream" },
          { kind: "data", data: { n: 1 } },
        ],
        context: { sessionId: "c-4" },
      },
      delivery: "answer",
    });
  });

  test.each<[string, OperationName]>([
    ["send, answered by a message", "SendMessage"],
    ["send, answered by a task", "SendMessage"],
    ["stream", "SendStreamingMessage"],
  ])("%s: round-trips", (name, operation) => {
    const { request } = step(name);
    expect(wire(v03Proto.encodeRequest(decode(operation, request), undefined, reportLoss))).toEqual({
      name: operation,
      params: request,
    });
  });

  test("a configuration without `blocking` has an omitted false", () => {
    expect(decode("SendMessage", { message })).toMatchObject({ delivery: "answer" });
    expect(decode("SendMessage", { message, configuration: {} })).toMatchObject({ delivery: "accepted" });
    expect(decode("SendMessage", { message, configuration: { blocking: true } })).toMatchObject({ delivery: "answer" });
  });

  test("ids from the path, or in a resource name", () => {
    expect(decode("GetTask", { id: "t", history_length: "2" })).toEqual({ kind: "task.get", taskId: "t", historyLength: 2 });
    expect(decode("GetTask", { name: "tasks/t" })).toEqual({ kind: "task.get", taskId: "t" });
    expect(decode("GetTaskPushNotificationConfig", { taskId: "t", id: "p" })).toEqual({ kind: "push.get", taskId: "t", id: "p" });
    expect(decode("DeleteTaskPushNotificationConfig", { name: "tasks/t/pushNotificationConfigs/p" })).toEqual({
      kind: "push.delete",
      taskId: "t",
      id: "p",
    });
    expect(decode("ListTaskPushNotificationConfigs", { taskId: "t" })).toEqual({ kind: "push.list", taskId: "t" });
  });

  test("a push config as in the protobuf, and as the 0.3.14 client sends it", () => {
    const inner = { id: "p", url: "https://hook.example" };
    const asProto = {
      taskId: "t",
      parent: "tasks/t",
      configId: "p",
      config: { name: "tasks/t/pushNotificationConfigs/p", pushNotificationConfig: inner },
    };
    const asSent = { taskId: "t", name: "tasks/t/pushNotificationConfigs/p", pushNotificationConfig: inner };
    expect([asProto, asSent].map((params) => decode("CreateTaskPushNotificationConfig", params))).toEqual([
      { kind: "push.set", config },
      { kind: "push.set", config },
    ]);
    expect(wire(v03Proto.encodeRequest({ kind: "push.set", config }, undefined, reportLoss))).toEqual({
      name: "CreateTaskPushNotificationConfig",
      params: asProto,
    });
  });

  test("data parts, wrapped twice", () => {
    expect(decode("SendMessage", { message: { ...message, content: [{ data: { data: { a: 1 } } }] } })).toMatchObject({
      envelope: { content: [{ kind: "data", data: { a: 1 } }] },
    });
  });

  test.each<[unknown, string]>([
    [{ ...message, content: undefined, parts: [{ text: "x" }] }, "message.content is missing; an array is expected"],
    [
      { ...message, content: [{ text: "a", data: {} }] },
      "message.content[0] must have exactly one of text, file, data, but has text and data",
    ],
    [
      { ...message, content: [{ file: {} }] },
      "message.content[0].file must have exactly one of fileWithUri and fileWithBytes, but has none",
    ],
  ])("rejects %j", (given, want) => {
    expect(() => decode("SendMessage", { message: given })).toThrow(want);
  });

  test("part metadata is not written, because 0.3.3 rejects it; data that is not an object is wrapped: both are reported", () => {
    const content = [
      { kind: "text", text: "x", metadata: { p: 1 } },
      { kind: "data", data: [1] },
    ] as const;
    const encoded = v03Proto.encodeRequest(
      { kind: "send", envelope: { ...envelope, content }, delivery: "answer", task: "auto" },
      undefined,
      reportLoss,
    );
    expect(encoded?.params).toMatchObject({ message: { content: [{ text: "x" }, { data: { data: { value: [1] } } }] } });
    expect(JSON.stringify(encoded)).not.toContain('"metadata"');
    expect(losses.map(({ path }) => path)).toEqual(["message.parts[0].metadata", "message.parts[1].data"]);
  });

  test("part metadata of later 0.3 SDKs is read", () => {
    const content = [
      { text: "x", metadata: { p: 1 } },
      { data: { data: { value: [1] } }, metadata: { data_part_compat: true } },
    ];
    expect(decode("SendMessage", { message: { ...message, content } })).toMatchObject({
      envelope: {
        content: [
          { kind: "text", text: "x", metadata: { p: 1 } },
          { kind: "data", data: [1], metadata: undefined },
        ],
      },
    });
  });

  test("related tasks and a history length of zero are reported as lost", () => {
    const send: Operation = {
      kind: "send",
      envelope: { ...envelope, references: ["t-0"] },
      delivery: "answer",
      task: "auto",
      historyLength: 0,
    };
    v03Proto.encodeRequest(send, undefined, reportLoss);
    expect(losses.map(({ path }) => path).sort()).toEqual(["message.references", "operation.historyLength"]);
  });
});

describe("results of 0.3 on REST", () => {
  const send = decode("SendMessage", { message });

  test.each(["send, answered by a message", "send, answered by a task"])("%s: round-trips", (name) => {
    const { response } = step(name);
    expect(wire(v03Proto.encodeResult(send, v03Proto.decodeResult(send, response, facts), reportLoss))).toEqual(response);
  });

  test("get: the bare task", () => {
    const { response } = step("get");
    const operation = decode("GetTask", { id: "t-1" });
    expect(wire(v03Proto.encodeResult(operation, v03Proto.decodeResult(operation, response, facts), reportLoss))).toEqual(
      response,
    );
  });

  test("stream events round-trip, `final` always", () => {
    const items = step("stream").events ?? [];
    expect(items).toHaveLength(5);
    const written = items.map((item) => wire(v03Proto.encodeStreamItem(v03Proto.decodeStreamItem(item, facts), reportLoss)));
    // The SDK leaves a false out.
    const [task, working, ...rest] = items as [object, { statusUpdate: object }, ...object[]];
    expect(written).toEqual([task, { statusUpdate: { ...working.statusUpdate, final: false } }, ...rest]);
  });

  test("names used by early implementations", () => {
    const status = { state: "TASK_STATE_CANCELLED", update: { ...message, role: "ROLE_AGENT" } };
    expect(v03Proto.decodeStreamItem({ msg: message }, facts)).toMatchObject({ kind: "message", message: { id: "m-1" } });
    expect(v03Proto.decodeStreamItem({ task: { id: "t", status } }, facts)).toMatchObject({
      task: { status: { state: "canceled", message: { id: "m-1", role: "agent" } } },
    });
  });

  test("canceled is spelt as in the 0.3 protobuf", () => {
    const item = v03Proto.encodeStreamItem(
      { kind: "status", taskId: "t", contextId: "c", status: { state: "canceled", at: 0 } },
      reportLoss,
    );
    expect(item).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_CANCELLED" }, final: true } });
  });

  test("push configs have resource names; an empty list may be omitted", () => {
    const list: Operation = { kind: "push.list", taskId: "t" };
    const answer = wire(v03Proto.encodeResult(list, { kind: "pushes", configs: [config], nextPageToken: "" }, reportLoss));
    expect(answer).toEqual({
      configs: [{ name: "tasks/t/pushNotificationConfigs/p", pushNotificationConfig: { id: "p", url: "https://hook.example" } }],
      nextPageToken: "",
    });
    expect(v03Proto.decodeResult(list, answer, facts)).toEqual({ kind: "pushes", configs: [config], nextPageToken: "" });
    expect(v03Proto.decodeResult(list, step("list push").response, facts)).toEqual({
      kind: "pushes",
      configs: [],
      nextPageToken: "",
    });
  });
});
