import * as sdk from "@a2a-js/sdk";
import { LegacyA2AService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMessage } from "../../../../test/helpers/grpc.js";
import type { JsonObject } from "../../../envelope/index.js";
import { decodeMessage } from "./decode.js";
import { encodeMessage } from "./encode.js";
import type { MessageType } from "./schema.js";
import { SCHEMA_0_3 } from "./schema-0.3.js";
import { SCHEMA_1_0 } from "./schema-1.0.js";

const LIMITS = { jsonDepth: 64, jsonValues: 10_000 };
const encode = (type: MessageType, value: JsonObject) => encodeMessage(type, value, new Uint8Array());
const decode = (type: MessageType, bytes: Uint8Array) => decodeMessage(type, bytes, LIMITS);

describe.each([
  ["1.0", Object.values(SCHEMA_1_0)],
  ["0.3", Object.values(SCHEMA_0_3)],
])("every message of %s", (_version, types) => {
  test.each(types.map((type) => [type.name, type] as const))("%s round-trips", (_name, type) => {
    fc.assert(
      fc.property(anyMessage(type), (value) => {
        expect(decode(type, encode(type, value))).toEqual(value);
      }),
      { numRuns: 30 },
    );
  });
});

test("no message of the specification is missing", () => {
  // 44 of lf.a2a.v1, and Empty.
  expect(Object.keys(SCHEMA_1_0)).toHaveLength(45);
  const fields = Object.values(SCHEMA_1_0).flatMap(({ fields }) => fields);
  expect(fields).toHaveLength(176);
  for (const { name, fields: own } of [...Object.values(SCHEMA_1_0), ...Object.values(SCHEMA_0_3)])
    expect([name, new Set(own.map(({ tag }) => tag >>> 3)).size]).toEqual([name, own.length]);
});

/** A method of the official service, with its own encoder and decoder. */
interface Official {
  requestSerialize(value: unknown): Buffer;
  requestDeserialize(value: Buffer): unknown;
  responseSerialize(value: unknown): Buffer;
  responseDeserialize(value: Buffer): unknown;
}

/** One direction of a method. */
function halfOf(call: unknown, half: "request" | "response") {
  const official = call as Official; // each takes what it or its SDK made
  return half === "request"
    ? { write: official.requestSerialize, read: (bytes: Uint8Array) => official.requestDeserialize(Buffer.from(bytes)) }
    : { write: official.responseSerialize, read: (bytes: Uint8Array) => official.responseDeserialize(Buffer.from(bytes)) };
}

interface JsonForm {
  fromJSON(value: object): unknown;
  toJSON(value: unknown): unknown;
}
const forms = new Map<string, unknown>(Object.entries(sdk));

// Together these hold every message of the package. The names are the SDK's own.
describe.each([
  ["request", "SendMessageRequest", A2AService.sendMessage, SCHEMA_1_0.SendMessageRequest],
  ["response", "SendMessageResponse", A2AService.sendMessage, SCHEMA_1_0.SendMessageResponse],
  ["response", "StreamResponse", A2AService.subscribeToTask, SCHEMA_1_0.StreamResponse],
  ["request", "GetTaskRequest", A2AService.getTask, SCHEMA_1_0.GetTaskRequest],
  ["response", "Task", A2AService.cancelTask, SCHEMA_1_0.Task],
  ["request", "ListTasksRequest", A2AService.listTasks, SCHEMA_1_0.ListTasksRequest],
  ["response", "ListTasksResponse", A2AService.listTasks, SCHEMA_1_0.ListTasksResponse],
  ["request", "CancelTaskRequest", A2AService.cancelTask, SCHEMA_1_0.CancelTaskRequest],
  ["request", "SubscribeToTaskRequest", A2AService.subscribeToTask, SCHEMA_1_0.SubscribeToTaskRequest],
  ["request", "TaskPushNotificationConfig", A2AService.createTaskPushNotificationConfig, SCHEMA_1_0.TaskPushNotificationConfig],
  [
    "request",
    "GetTaskPushNotificationConfigRequest",
    A2AService.getTaskPushNotificationConfig,
    SCHEMA_1_0.GetTaskPushNotificationConfigRequest,
  ],
  [
    "request",
    "DeleteTaskPushNotificationConfigRequest",
    A2AService.deleteTaskPushNotificationConfig,
    SCHEMA_1_0.DeleteTaskPushNotificationConfigRequest,
  ],
  [
    "request",
    "ListTaskPushNotificationConfigsRequest",
    A2AService.listTaskPushNotificationConfigs,
    SCHEMA_1_0.ListTaskPushNotificationConfigsRequest,
  ],
  [
    "response",
    "ListTaskPushNotificationConfigsResponse",
    A2AService.listTaskPushNotificationConfigs,
    SCHEMA_1_0.ListTaskPushNotificationConfigsResponse,
  ],
  ["request", "GetExtendedAgentCardRequest", A2AService.getExtendedAgentCard, SCHEMA_1_0.GetExtendedAgentCardRequest],
  ["response", "AgentCard", A2AService.getExtendedAgentCard, SCHEMA_1_0.AgentCard],
] as const)("the official SDK 1.3.0 and the %s %s", (half, name, call, type) => {
  const form = forms.get(name) as JsonForm; // every message of the package has one
  const { write, read } = halfOf(call, half);

  test("both sides read what the other writes", () => {
    fc.assert(
      fc.property(anyMessage(type), (value) => {
        const theirs = form.fromJSON(value);
        expect(form.toJSON(read(encode(type, value)))).toEqual(form.toJSON(theirs));
        expect(decode(type, write(theirs))).toEqual(value);
      }),
      { numRuns: 100 },
    );
  });
});

/** Every text and number in a tree with the name of its member, at any depth. */
function leaves(value: unknown, name: string, found: string[]): string[] {
  if (Array.isArray(value)) for (const item of value) leaves(item, name, found);
  else if (typeof value !== "object" || value === null) found.push(`${name}=${String(value)}`);
  else if (value instanceof Uint8Array) found.push(`${name}=${Buffer.from(value).toString("base64")}`);
  else if ("$case" in value && "value" in value) leaves(value.value, String(value.$case), found);
  else for (const [member, inner] of Object.entries(value)) leaves(inner, member, found);
  return found;
}

// The SDK has no JSON form of these, so all leaves and their names are compared.
describe.each([
  ["request", LegacyA2AService.sendMessage, SCHEMA_0_3.SendMessageRequest],
  ["response", LegacyA2AService.sendStreamingMessage, SCHEMA_0_3.StreamResponse],
  ["response", LegacyA2AService.sendMessage, SCHEMA_0_3.SendMessageResponse],
  ["request", LegacyA2AService.getTask, SCHEMA_0_3.GetTaskRequest],
  ["request", LegacyA2AService.cancelTask, SCHEMA_0_3.CancelTaskRequest],
  ["request", LegacyA2AService.taskSubscription, SCHEMA_0_3.TaskSubscriptionRequest],
  ["request", LegacyA2AService.createTaskPushNotificationConfig, SCHEMA_0_3.CreateTaskPushNotificationConfigRequest],
  ["request", LegacyA2AService.getTaskPushNotificationConfig, SCHEMA_0_3.GetTaskPushNotificationConfigRequest],
  ["request", LegacyA2AService.deleteTaskPushNotificationConfig, SCHEMA_0_3.DeleteTaskPushNotificationConfigRequest],
  ["request", LegacyA2AService.listTaskPushNotificationConfig, SCHEMA_0_3.ListTaskPushNotificationConfigRequest],
  ["response", LegacyA2AService.listTaskPushNotificationConfig, SCHEMA_0_3.ListTaskPushNotificationConfigResponse],
  ["response", LegacyA2AService.getAgentCard, SCHEMA_0_3.AgentCard],
] as const)("the official SDK 1.3.0 and the %s of 0.3", (half, call, type) => {
  const { write, read } = halfOf(call, half);

  test(type.name, () => {
    fc.assert(
      fc.property(anyMessage(type), (value) => {
        const theirs = read(encode(type, value));
        const notified = leaves(decode(type, write(theirs)), "", []);
        const known = new Set(leaves(theirs, "", []));
        expect(notified.filter((leaf) => !known.has(leaf) && !ENUM.test(leaf))).toEqual([]);
        // Everything is returned, except fields of later 0.3 SDKs.
        expect(notified.sort()).toEqual(leaves(withoutAdded(value), "", []).sort());
      }),
      { numRuns: 100 },
    );
  });
});

/** The SDK keeps enums as numbers. */
const ENUM = /^(role=ROLE|state=TASK_STATE)_/;

/** Without the three fields that the published 0.3 file lacks. */
function withoutAdded(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value), (key, inner) => {
    if (typeof inner !== "object" || inner === null) return inner;
    if (key !== "metadata" && ("text" in inner || "file" in inner || "data" in inner)) delete inner.metadata;
    if ("fileWithUri" in inner || "fileWithBytes" in inner) delete inner.name;
    delete inner.iconUrl;
    return inner;
  });
}
