import { type Cancel, CancelSource } from "../envelope/index.js";
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
  // The weights are a megabyte, which nobody should load who routes nothing.
  const { decideAll } = await import("./routing.js");
  return { decisions: await decideAll(input, settings, cancel) };
}
