import type { Protocol } from "../../src/protocols/index.js";
import { connect } from "./client.js";
import { discover } from "./discover.js";
import { serve } from "./server.js";

/** A sixth protocol, to prove that one folder and one line are enough. */
export const toy: Protocol = {
  id: "toy",
  versions: ["1"],
  traits: {
    streaming: false,
    tasks: false,
    resume: false,
    idempotentSend: false,
    inputTurns: false,
    signed: "none",
    sealed: "none",
    binary: false,
    proofs: false,
    carries: ["sessionId", "traceId"],
  },
  losses: [{ version: "1", path: "message.parts[]", reason: "toy carries text only" }],
  routes: [
    { method: "POST", path: "/toy" },
    { method: "GET", path: "/toy" },
  ],
  serve,
  connect,
  discover,
};
