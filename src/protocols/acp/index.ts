import type { Protocol } from "../protocol.js";
import { connect } from "./client.js";
import { ENVELOPE_HEADER, ID_HEADER } from "./codec/envelope-header.js";
import { deployments } from "./deployments.js";
import { discover } from "./discover.js";
import { features, traits } from "./features.js";
import { probe } from "./plain/discover.js";
import { plainLosses, plainTraits } from "./plain/losses.js";
import { primitives } from "./primitives.js";
import { sendCodec } from "./send-codec.js";
import { routes, serve } from "./server.js";
import { SETTINGS } from "./settings.js";

const VERSION = "0.2";

/** BeeAI ACP 0.2 as implemented by its SDK 1.0.3, and the plain endpoints. */
export const acp: Protocol = {
  id: "acp",
  versions: [VERSION, "plain"],
  traits,
  versionTraits: { plain: plainTraits },
  features,
  primitives,
  losses: [
    {
      version: VERSION,
      path: "context.sessionId",
      reason: "session ids are UUIDs; another id is mapped for the duration of a connection",
    },
    { version: VERSION, path: "context.idempotencyKey", reason: "ACP has none; only peers that declare support honour it" },
    { version: VERSION, path: "task.contextId", reason: "ACP session ids are UUIDs; another id cannot be represented" },
    { version: VERSION, path: "task.history", reason: "a run contains only its output" },
    { version: VERSION, path: "task.artifacts", reason: "an output message with several artifacts is split" },
    { version: VERSION, path: "task.metadata", reason: "a run has no metadata" },
    { version: VERSION, path: "task.status.message", reason: "an unfinished run has no message; its events do" },
    { version: VERSION, path: "task.status.error", reason: "a failure carries no details of the error of a run" },
    { version: VERSION, path: "task.log", reason: "derived from the task if the upstream keeps no log" },
    { version: VERSION, path: "task.status.at", reason: "a run has only its creation and end time" },
    { version: VERSION, path: "task.status.state", reason: "ACP has no such state; sent as in-progress" },
    { version: VERSION, path: "task.status.state=rejected", reason: "sent as failed; Koine clients restore it" },
    { version: VERSION, path: "task.status.state=auth-required", reason: "sent as awaiting; Koine clients restore it" },
    { version: VERSION, path: "event.metadata", reason: "only progress events carry metadata" },
    { version: VERSION, path: "message", reason: "the envelope header is limited to 4 KiB" },
    { version: VERSION, path: "operation.task.list", reason: "ACP lists no runs" },
    { version: VERSION, path: "operation.push", reason: "ACP has no push notifications" },
    { version: VERSION, path: "operation.session.close", reason: "ACP cannot close a session" },
    { version: VERSION, path: "operation.outputModes", reason: "a run cannot request content types" },
    { version: VERSION, path: "operation.metadata", reason: "a run request has no metadata" },
    { version: VERSION, path: "operation.historyLength", reason: "a run contains only its output" },
    ...plainLosses,
  ],
  deployments,
  routes,
  carrier: { binding: "REST", contentHeaders: [ID_HEADER, ENVELOPE_HEADER, "idempotency-key", "last-event-id"] },
  serve,
  connect,
  discover,
  probe,
  codec: sendCodec,
  settings: SETTINGS,
  samples: async (text, agent) => (await import("./samples.js")).samples(text, agent),
  requirements: async () => (await import("./requirements.js")).requirements,
};
