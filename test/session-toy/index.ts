import type { Protocol } from "../../src/protocols/index.js";
import { connect } from "./client.js";
import { CARRIED } from "./codec.js";
import { didToy, discover } from "./discover.js";
import { provingRoutes, routes, serve } from "./server.js";

const VERSION = "1";
const loss = (path: string, reason: string) => ({ version: VERSION, path, reason });

/** A protocol over WebSocket sessions, to prove that one folder and one line are enough for these too. */
export const sessionToy: Protocol = {
  id: "session-toy",
  versions: [VERSION],
  traits: {
    streaming: true,
    tasks: true,
    resume: true,
    idempotentSend: true,
    inputTurns: true,
    signed: "none",
    sealed: "none",
    binary: false,
    proofs: false,
    carries: CARRIED,
  },
  losses: [
    ...["message", "artifact", "task.artifacts[]", "task.history[]", "task.status.message"].map((path) =>
      loss(`${path}.parts[]`, "text and data only, without name, media type and metadata"),
    ),
    ...["message", "task.history[]", "task.status.message"].flatMap((path) =>
      ["references", "extensions", "proofs", "extra", "meta.retryCount"].map((name) =>
        loss(`${path}.${name}`, "messages have no such member"),
      ),
    ),
    loss("context.artifactRefs", "messages have no such member"),
    loss("context.minVersion", "messages have no such member"),
    loss("context.maxVersion", "messages have no such member"),
    loss("artifact.extensions", "there are no extensions"),
    loss("task.artifacts[].extensions", "there are no extensions"),
    loss("operation.outputModes", "a call cannot request content types"),
    loss("operation.metadata", "a call has no metadata"),
    loss("operation.push", "there are no push notifications"),
    loss("operation.session.close", "conversations are not closed"),
  ],
  routes,
  serve,
  connect,
  discover,
  didMethods: () => [didToy],
};

/** The same, with callers that name themselves by the first message of a session (settings: `did`). */
export const provingSessionToy: Protocol = { ...sessionToy, routes: provingRoutes };
