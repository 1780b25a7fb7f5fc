import type { KnownGaps } from "../run.js";

const BUG = "a pre-stream error over REST runs into the SDK's own check and becomes a 500 that says so";

/** Where `@a2a-js/sdk` 0.3.14 departs from the specification, each looked at by hand. */
export const a2aJs0314Gaps: KnownGaps = {
  "a2a:card:cache-control": "sends no Cache-Control",
  "a2a:card:old-path": "serves the card at the current path only",
  "a2a:0.3:jsonrpc:get-task:no-id": "looks for a task named undefined and does not find it",
  "a2a:0.3:rest:stream:refused": BUG,
  "a2a:0.3:rest:subscribe:unknown": BUG,
  "a2a:0.3:jsonrpc:error:agent-throws": "puts the text of any error an executor throws into the failed task's message",
  "a2a:0.3:rest:error:agent-throws": "puts the text of any error an executor throws into the failed task's message",
};
