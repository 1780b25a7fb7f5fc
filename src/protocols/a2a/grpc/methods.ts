import type { Maybe } from "../../../envelope/index.js";
import type { OperationName } from "../operations.js";
import { SERVICES, type Version } from "./address.js";
import type { MessageType } from "./schema.js";
import { SCHEMA_0_3 as V03 } from "./schema-0.3.js";
import { SCHEMA_1_0 as V1 } from "./schema-1.0.js";

/** A gRPC method: its operation, request type and response type. */
export interface Method {
  readonly name: OperationName;
  readonly path: string;
  readonly request: MessageType;
  readonly response: MessageType;
}

type Signature = readonly [request: MessageType, response: MessageType];

/** In 1.0, methods are named like their operations. */
const SIGNATURES_1_0: { readonly [name in OperationName]: Signature } = {
  SendMessage: [V1.SendMessageRequest, V1.SendMessageResponse],
  SendStreamingMessage: [V1.SendMessageRequest, V1.StreamResponse],
  GetTask: [V1.GetTaskRequest, V1.Task],
  ListTasks: [V1.ListTasksRequest, V1.ListTasksResponse],
  CancelTask: [V1.CancelTaskRequest, V1.Task],
  SubscribeToTask: [V1.SubscribeToTaskRequest, V1.StreamResponse],
  CreateTaskPushNotificationConfig: [V1.TaskPushNotificationConfig, V1.TaskPushNotificationConfig],
  GetTaskPushNotificationConfig: [V1.GetTaskPushNotificationConfigRequest, V1.TaskPushNotificationConfig],
  ListTaskPushNotificationConfigs: [V1.ListTaskPushNotificationConfigsRequest, V1.ListTaskPushNotificationConfigsResponse],
  DeleteTaskPushNotificationConfig: [V1.DeleteTaskPushNotificationConfigRequest, V1.Empty],
  GetExtendedAgentCard: [V1.GetExtendedAgentCardRequest, V1.AgentCard],
};

/** 0.3 names three methods differently, and has no ListTasks. */
const SIGNATURES_0_3: { readonly [name in OperationName]: Maybe<readonly [rpc: string, ...Signature]> } = {
  SendMessage: ["SendMessage", V03.SendMessageRequest, V03.SendMessageResponse],
  SendStreamingMessage: ["SendStreamingMessage", V03.SendMessageRequest, V03.StreamResponse],
  GetTask: ["GetTask", V03.GetTaskRequest, V03.Task],
  ListTasks: undefined,
  CancelTask: ["CancelTask", V03.CancelTaskRequest, V03.Task],
  SubscribeToTask: ["TaskSubscription", V03.TaskSubscriptionRequest, V03.StreamResponse],
  CreateTaskPushNotificationConfig: [
    "CreateTaskPushNotificationConfig",
    V03.CreateTaskPushNotificationConfigRequest,
    V03.TaskPushNotificationConfig,
  ],
  GetTaskPushNotificationConfig: [
    "GetTaskPushNotificationConfig",
    V03.GetTaskPushNotificationConfigRequest,
    V03.TaskPushNotificationConfig,
  ],
  ListTaskPushNotificationConfigs: [
    "ListTaskPushNotificationConfig",
    V03.ListTaskPushNotificationConfigRequest,
    V03.ListTaskPushNotificationConfigResponse,
  ],
  DeleteTaskPushNotificationConfig: ["DeleteTaskPushNotificationConfig", V03.DeleteTaskPushNotificationConfigRequest, V03.Empty],
  GetExtendedAgentCard: ["GetAgentCard", V03.GetAgentCardRequest, V03.AgentCard],
};

const byPath = new Map<string, Method & { readonly version: Version }>();
const byName = { "1.0": new Map<OperationName, Method>(), "0.3": new Map<OperationName, Method>() };
for (const name of Object.keys(SIGNATURES_1_0) as OperationName[]) {
  // the table has exactly these keys
  add("1.0", name, [name, ...SIGNATURES_1_0[name]]);
  const legacy = SIGNATURES_0_3[name];
  if (legacy !== undefined) add("0.3", name, legacy);
}

function add(version: Version, name: OperationName, [rpc, request, response]: readonly [string, ...Signature]): void {
  const method = { name, path: `${SERVICES[version]}/${rpc}`, request, response, version };
  byPath.set(method.path, method);
  byName[version].set(name, method);
}

/** The method at a path, with its version. */
export function methodAt(path: string): Maybe<Method & { readonly version: Version }> {
  return byPath.get(path);
}

/** All methods of a version. */
export function methodsOf(version: Version): readonly Method[] {
  return [...byName[version].values()];
}

/** Undefined if the version has no such method. */
export function methodOf(version: Version, name: OperationName): Maybe<Method> {
  return byName[version].get(name);
}
