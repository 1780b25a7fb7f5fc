import { type Decision, type Module, type RouterSettings, route, type Scenario } from "../../src/router/index.js";

/** A module with this text only. */
export function moduleSaying(text: string, more: Partial<Module> = {}): Module {
  return { id: "m", passages: text === "" ? [] : [{ kind: "need", text }], ...more };
}

export function scenarioOf(...modules: readonly Module[]): Scenario {
  return { id: "s", description: "", modules };
}

/** The decision for one module on its own. */
export async function decide(module: Module, settings: RouterSettings = {}): Promise<Decision> {
  const [decision] = (await route(scenarioOf(module), settings)).decisions;
  if (decision === undefined) throw new Error("one module, and no decision");
  return decision;
}

/** The decision for one text on its own. */
export function decideText(text: string, settings: RouterSettings = {}): Promise<Decision> {
  return decide(moduleSaying(text), settings);
}
