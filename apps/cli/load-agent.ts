import { type Agent, AgentError } from "../../src/index.js";
import { loadAgents as load } from "../config/index.js";
import { CliError, EXIT, usageError } from "./exit.js";

const SHAPE = "It needs a default export made by agent({ … }), or `export function handle(message, task) { … }`.";

/** The agents of a module; what keeps them from being loaded is said in words that help. */
export async function loadAgents(path: string): Promise<readonly Agent[]> {
  try {
    return await load(path);
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "not_found") throw usageError(thrown.message);
    if (thrown instanceof AgentError && thrown.facts.field === "agent")
      throw new CliError(EXIT.failure, thrown.message, { hint: SHAPE });
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const hint = /'koine'/.test(message) ? "Install koine next to the agent: npm install koine" : undefined;
    throw new CliError(EXIT.failure, `${path} cannot be loaded: ${message}`, hint === undefined ? {} : { hint });
  }
}
