import type { Primitives } from "../features.js";

/** ACP's primitives for link options. */
export const primitives: Primitives = {
  streaming: "POST /runs with mode stream, answered by server-sent events",
  "long-job": "POST /runs with mode async answers 202 at once; GET /runs/{run_id} returns the status",
  artifact: "message parts with a name",
  "state-sync": "session_id continues a session; GET /runs/{run_id}/events is the complete log of a run",
  identity: "the Authorization header of each request",
};
