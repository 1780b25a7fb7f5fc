import type { Primitives } from "../features.js";

/** ANP's primitives for link options. Streams and tasks are Koine's methods on the described interface. */
export const primitives: Primitives = {
  streaming: "koine.send with delivery stream, answered by events of the session or by server-sent events",
  "long-job": "koine.send with delivery accepted answers with the task; koine.task.get returns its status",
  artifact: "artifacts of a task, as parts",
  "state-sync": "sessionId of a message continues a conversation; koine.task.subscribe repeats the events after a cursor",
  identity: "a did:wba that signs every request (RFC 9421), or the Authorization header",
};
