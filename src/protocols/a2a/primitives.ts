import type { Primitives } from "../features.js";

/** What carries each toggle of a link in A2A. */
export const primitives: Primitives = {
  streaming: "SendStreamingMessage (in 0.3 message/stream), answered by server-sent events or by a gRPC stream",
  "long-job": "returnImmediately (in 0.3 blocking: false) answers with a task at once; GetTask (in 0.3 tasks/get) looks it up",
  artifact: "artifactUpdate (in 0.3 artifact-update) on a stream, and the artifacts of the task",
  "state-sync":
    "contextId goes on with a conversation; SubscribeToTask (in 0.3 tasks/resubscribe) begins with the task as it stands",
  identity: "security schemes on the card, and what they ask for with each request",
};
