import { conformanceAgent, conformanceSkill } from "../../conformance/agent.js";
import { agent, type ServeOptions, type Server, serve } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";

export const ALICE = "alice-token-0123456789";
export const BOB = "bob-token-0123456789";

/** Koine's server with an agent that runs the commands of a test. */
export function startKoine(options: ServeOptions = {}): Promise<Server> {
  const conform = agent({
    name: "conform",
    description: "does what a test commands",
    handle: conformanceAgent,
    skills: [conformanceSkill],
  });
  return serve(conform, options);
}

/** The same for two named callers, with an extended card for the first. */
export function startGuardedKoine(options: ServeOptions = {}): Promise<Server> {
  const conform = agent({
    name: "conform",
    description: "does what a test commands",
    handle: conformanceAgent,
    skills: [conformanceSkill],
    extendedCard: ({ id }) => (id === "alice" ? { description: "told to friends" } : undefined),
  });
  const tokens = new Map([
    ["alice", ALICE],
    ["bob", BOB],
  ]);
  return serve(conform, { ...options, admission: bearerTokens(tokens) });
}
