import type { Primitives } from "../features.js";

/** A2A's primitives for link options. */
export const primitives: Primitives = {
  streaming: "SendStreamingMessage (in 0.3 message/stream), answered by server-sent events or by a gRPC stream",
  "long-job": "returnImmediately (in 0.3 blocking: false) returns a task at once; GetTask (in 0.3 tasks/get) reads it",
  artifact: "artifactUpdate (in 0.3 artifact-update) on a stream, and the artifacts of the task",
  "state-sync": "contextId continues a conversation; SubscribeToTask (in 0.3 tasks/resubscribe) begins with the current task",
  identity: "security schemes on the card, and their credentials with each request",
};
