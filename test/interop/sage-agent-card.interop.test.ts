import { existsSync, readFileSync } from "node:fs";
import { describe } from "vitest";
import { peerProgram } from "../../tools/peers.mjs";
import { agentCardSuite } from "../sage/agent-card-suite.js";

/** The original AgentCardRegistry of SAGE 1.5.2 on a real chain: the same tests as with the stand-in of test/sage. */

const artifact = peerProgram("agent-card");

describe.skipIf(!existsSync(artifact))("AgentCardRegistry of SAGE 1.5.2", () => {
  agentCardSuite(() => JSON.parse(readFileSync(artifact, "utf8")));
});
