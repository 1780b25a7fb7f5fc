import type { Primitives } from "../features.js";

/** What carries each toggle of a link in ACP. */
export const primitives: Primitives = {
  streaming: "POST /runs with mode stream, answered by server-sent events",
  "long-job": "POST /runs with mode async answers 202 at once; GET /runs/{run_id} tells the status",
  artifact: "message parts with a name",
  "state-sync": "session_id goes on with a session; GET /runs/{run_id}/events is the whole log of a run",
  identity: "the Authorization header of each request",
};
