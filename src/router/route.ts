import { AgentError, type Cancel, CancelSource, isObject, type Maybe } from "../envelope/index.js";
import type { Decision } from "./decision.js";
import type { Judgement } from "./judge.js";
import type { Scenario } from "./scenario.js";
import type { RouterSettings } from "./settings.js";

/** The result of `route`: one decision per module, in the order of scenarios and modules. */
export interface Routing {
  readonly decisions: readonly Decision[];
  /** The judgement behind each decision, in the same order. Not enumerable: as JSON a routing is its decisions. */
  readonly judgements: readonly Judgement[];
}

/** Loaded on first use: the root import does not pay for the router. */
let loaded: Maybe<Promise<typeof import("./routing.js")>>;

/**
 * Selects one protocol for each module and explains why. Without embeddings and a model it is a pure function: the same
 * input gives the same bytes on every machine.
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
  loaded ??= import("./routing.js");
  const { decideAll } = await loaded;
  const { decisions, judgements } = await decideAll(input, settings, cancel);
  return Object.defineProperty({ decisions, judgements }, "judgements", { enumerable: false });
}

/** For callers without type checking. */
function isScenario(value: unknown): boolean {
  if (!isObject(value) || typeof value["description"] !== "string" || !Array.isArray(value["modules"])) return false;
  return value["modules"].every((module) => isObject(module) && Array.isArray(module["passages"]));
}
