import { compileSchema } from "./schema.js";
import { UNCHANGED_MESSAGES } from "./schema-unchanged.js";

/**
 * Package `a2a.v1`: A2A 0.3 as published, with the three fields that its SDKs added (`Part.metadata`, `FilePart.name`,
 * `AgentCard.iconUrl`). The JSON names are those of the ProtoJSON form of 0.3 on REST.
 */
export const SCHEMA_0_3 = compileSchema(
  {
    Role: ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"],
    TaskState: [
      "TASK_STATE_UNSPECIFIED",
      "TASK_STATE_SUBMITTED",
      "TASK_STATE_WORKING",
      "TASK_STATE_COMPLETED",
      "TASK_STATE_FAILED",
      "TASK_STATE_CANCELLED",
      "TASK_STATE_INPUT_REQUIRED",
      "TASK_STATE_REJECTED",
      "TASK_STATE_AUTH_REQUIRED",
    ],
  },
  {
    Message: {
      messageId: "string 1",
      contextId: "string 2",
      taskId: "string 3",
      role: "Role 4",
      content: "repeated Part 5",
      metadata: "struct 6",
      extensions: "repeated string 7",
    },
    Part: { text: "oneof string 1", file: "oneof FilePart 2", data: "oneof DataPart 3", metadata: "struct 4" },
    FilePart: {
      fileWithUri: "oneof string 1",
      fileWithBytes: "oneof bytes 2",
      mimeType: "string 3",
      name: "string 4",
    },
    DataPart: { data: "struct 1" },
    Artifact: {
      artifactId: "string 1",
      name: "string 3",
      description: "string 4",
      parts: "repeated Part 5",
      metadata: "struct 6",
      extensions: "repeated string 7",
    },
    TaskStatusUpdateEvent: {
      taskId: "string 1",
      contextId: "string 2",
      status: "TaskStatus 3",
      final: "bool 4",
      metadata: "struct 5",
    },

    SendMessageRequest: { message: "Message 1", configuration: "SendMessageConfiguration 2", metadata: "struct 3" },
    SendMessageConfiguration: {
      acceptedOutputModes: "repeated string 1",
      pushNotification: "PushNotificationConfig 2",
      historyLength: "int32 3",
      blocking: "bool 4",
    },
    GetTaskRequest: { name: "string 1", historyLength: "int32 2" },
    CancelTaskRequest: { name: "string 1" },
    TaskSubscriptionRequest: { name: "string 1" },
    GetAgentCardRequest: {},

    PushNotificationConfig: {
      id: "string 1",
      url: "string 2",
      token: "string 3",
      authentication: "AuthenticationInfo 4",
    },
    AuthenticationInfo: { schemes: "repeated string 1", credentials: "string 2" },
    TaskPushNotificationConfig: { name: "string 1", pushNotificationConfig: "PushNotificationConfig 2" },
    CreateTaskPushNotificationConfigRequest: {
      parent: "string 1",
      configId: "string 2",
      config: "TaskPushNotificationConfig 3",
    },
    GetTaskPushNotificationConfigRequest: { name: "string 1" },
    DeleteTaskPushNotificationConfigRequest: { name: "string 1" },
    ListTaskPushNotificationConfigRequest: { parent: "string 1", pageSize: "int32 2", pageToken: "string 3" },
    ListTaskPushNotificationConfigResponse: {
      configs: "repeated TaskPushNotificationConfig 1",
      nextPageToken: "string 2",
    },

    AgentCard: {
      name: "string 1",
      description: "string 2",
      url: "string 3",
      provider: "AgentProvider 4",
      version: "string 5",
      documentationUrl: "string 6",
      capabilities: "AgentCapabilities 7",
      securitySchemes: "map SecurityScheme 8",
      security: "repeated Security 9",
      defaultInputModes: "repeated string 10",
      defaultOutputModes: "repeated string 11",
      skills: "repeated AgentSkill 12",
      supportsAuthenticatedExtendedCard: "bool 13",
      preferredTransport: "string 14",
      additionalInterfaces: "repeated AgentInterface 15",
      protocolVersion: "string 16",
      signatures: "repeated AgentCardSignature 17",
      iconUrl: "string 18",
    },
    AgentInterface: { url: "string 1", transport: "string 2" },
    AgentCapabilities: { streaming: "bool 1", pushNotifications: "bool 2", extensions: "repeated AgentExtension 3" },
    AgentSkill: {
      id: "string 1",
      name: "string 2",
      description: "string 3",
      tags: "repeated string 4",
      examples: "repeated string 5",
      inputModes: "repeated string 6",
      outputModes: "repeated string 7",
      security: "repeated Security 8",
    },

    ...UNCHANGED_MESSAGES,
    Security: { schemes: "map StringList 1" },
    OAuthFlows: {
      authorizationCode: "oneof AuthorizationCodeOAuthFlow 1",
      clientCredentials: "oneof ClientCredentialsOAuthFlow 2",
      implicit: "oneof ImplicitOAuthFlow 3",
      password: "oneof PasswordOAuthFlow 4",
    },
    AuthorizationCodeOAuthFlow: {
      authorizationUrl: "string 1",
      tokenUrl: "string 2",
      refreshUrl: "string 3",
      scopes: "map string 4",
    },
  },
);
