import type { Primitives } from "../features.js";

/** SAGE's primitives for link options: those of A2A, signed. */
export const primitives: Primitives = {
  streaming: "SendStreamingMessage, answered by server-sent events of which each is signed for its place",
  "long-job": "SendMessage with returnImmediately answers with the task; GetTask returns its status",
  artifact: "artifacts of a task, as parts",
  "state-sync": "contextId of a message continues a conversation; SubscribeToTask repeats the events after a cursor",
  identity: "a did:sage whose keys are in a registry: every request, answer and message is signed (RFC 9421, RFC 8785)",
};
