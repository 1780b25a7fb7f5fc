import { conformanceAgent, conformanceSkill } from "../../conformance/agent.js";
import { agent, type ServeOptions, type Server, serve } from "../../src/index.js";

/** Our own server with the conformance agent behind it. */
export function startKoine(options: ServeOptions): Promise<Server> {
  const conform = agent({
    name: "conform",
    description: "does what a check asks for",
    handle: conformanceAgent,
    skills: [conformanceSkill],
  });
  return serve(conform, options);
}
