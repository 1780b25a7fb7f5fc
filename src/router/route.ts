import { AgentError, type Cancel, CancelSource, isObject } from "../envelope/index.js";
import type { Decision } from "./decision.js";
import type { Scenario } from "./scenario.js";
import type { RouterSettings } from "./settings.js";

/** What the router says about its input: one decision per module, in their order. */
export interface Routing {
  readonly decisions: readonly Decision[];
}

/**
 * Names one protocol for each module, and says why. Without embeddings and a model it is a pure function: the same input
 * gives the same bytes on every machine.
 */
export async function route(
  input: Scenario | readonly Scenario[],
  settings: RouterSettings = {},
  cancel: Cancel = new CancelSource(),
): Promise<Routing> {
  if (!isScenario(input) && !(Array.isArray(input) && input.every(isScenario)))
    throw new AgentError("invalid_message", "route() takes scenarios; readScenarios() makes them from a document", {
      field: "input",
    });
  // The weights are a megabyte, which nobody should load who routes nothing.
  const { decideAll } = await import("./routing.js");
  return { decisions: await decideAll(input, settings, cancel) };
}

/** Callers without types hand over all sorts of things. */
function isScenario(value: unknown): boolean {
  if (!isObject(value) || typeof value["description"] !== "string" || !Array.isArray(value["modules"])) return false;
  return value["modules"].every((module) => isObject(module) && Array.isArray(module["passages"]));
}
