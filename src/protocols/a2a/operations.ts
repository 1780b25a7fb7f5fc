/** The eleven operations (A2A 1.0 §5.3), with their names in every version and binding. */
export const OPERATIONS = {
  SendMessage: { v03: "message/send", streaming: false },
  SendStreamingMessage: { v03: "message/stream", streaming: true },
  GetTask: { v03: "tasks/get", streaming: false },
  // 0.3 has no list on JSON-RPC.
  ListTasks: { v03: undefined, streaming: false },
  CancelTask: { v03: "tasks/cancel", streaming: false },
  SubscribeToTask: { v03: "tasks/resubscribe", streaming: true },
  CreateTaskPushNotificationConfig: { v03: "tasks/pushNotificationConfig/set", streaming: false },
  GetTaskPushNotificationConfig: { v03: "tasks/pushNotificationConfig/get", streaming: false },
  ListTaskPushNotificationConfigs: { v03: "tasks/pushNotificationConfig/list", streaming: false },
  DeleteTaskPushNotificationConfig: { v03: "tasks/pushNotificationConfig/delete", streaming: false },
  GetExtendedAgentCard: { v03: "agent/getAuthenticatedExtendedCard", streaming: false },
} as const satisfies Record<string, { readonly v03: string | undefined; readonly streaming: boolean }>;

export type OperationName = keyof typeof OPERATIONS;
