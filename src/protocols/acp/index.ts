import type { Protocol } from "../protocol.js";
import { connect } from "./client.js";
import { discover } from "./discover.js";
import { features } from "./features.js";
import { primitives } from "./primitives.js";
import { sendCodec } from "./send-codec.js";
import { routes, serve } from "./server.js";
import { SETTINGS } from "./settings.js";

const VERSION = "0.2";

/** BeeAI ACP 0.2 as implemented by its SDK 1.0.3, and the plain endpoints. */
export const acp: Protocol = {
  id: "acp",
  versions: [VERSION],
  traits: {
    streaming: true,
    tasks: true,
    resume: true,
    idempotentSend: true,
    inputTurns: true,
    signed: "none",
    sealed: "none",
    binary: true,
    carries: [
      "traceId",
      "parentId",
      "idempotencyKey",
      "priority",
      "ttlMs",
      "stream",
      "artifactRefs",
      "tags",
      "minVersion",
      "maxVersion",
    ],
  },
  features,
  primitives,
  losses: [
    { version: VERSION, path: "context.sessionId", reason: "sessions are UUIDs; any other id is renamed for one connection" },
    { version: VERSION, path: "context.idempotencyKey", reason: "ACP has none; only peers that say so keep to ours" },
    { version: VERSION, path: "task.contextId", reason: "a session that is no UUID cannot be shown" },
    { version: VERSION, path: "task.history", reason: "a run shows its output only" },
    { version: VERSION, path: "task.artifacts", reason: "an output message with several artifacts becomes several" },
    { version: VERSION, path: "task.metadata", reason: "a run has no metadata" },
    { version: VERSION, path: "task.status.message", reason: "a run that goes on has no message; its events have" },
    { version: VERSION, path: "task.status.error", reason: "a failure has no place for the details of a run's error" },
    { version: VERSION, path: "task.log", reason: "it is made from the task where whoever works on it keeps none" },
    { version: VERSION, path: "task.status.at", reason: "a run tells only when it was made and when it ended" },
    { version: VERSION, path: "task.status.state", reason: "there is no unknown; it is written as in-progress" },
    { version: VERSION, path: "task.status.state=rejected", reason: "written as failed; our own client reads it back" },
    { version: VERSION, path: "task.status.state=auth-required", reason: "written as awaiting; our own client reads it back" },
    { version: VERSION, path: "event.metadata", reason: "only the progress of a running task can tell metadata" },
    { version: VERSION, path: "message", reason: "what the envelope says beside its message has 4 KiB in a header" },
    { version: VERSION, path: "operation.task.list", reason: "ACP lists no runs" },
    { version: VERSION, path: "operation.push", reason: "ACP has no push notifications" },
    { version: VERSION, path: "operation.session.close", reason: "ACP cannot close a session" },
    { version: VERSION, path: "operation.outputModes", reason: "a run takes no wish for content types" },
    { version: VERSION, path: "operation.metadata", reason: "a run takes no metadata" },
    { version: VERSION, path: "operation.historyLength", reason: "a run shows its output only" },
  ],
  routes,
  serve,
  connect,
  discover,
  codec: sendCodec,
  settings: SETTINGS,
  samples: async (text, agent) => (await import("./samples.js")).samples(text, agent),
  requirements: async () => (await import("./requirements.js")).requirements,
};
