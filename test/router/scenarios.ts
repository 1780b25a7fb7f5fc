import { type Decision, type Module, type RouterSettings, route, type Scenario } from "../../src/router/index.js";

/** A module that says this and nothing else. */
export function moduleSaying(text: string, more: Partial<Module> = {}): Module {
  return { id: "m", passages: text === "" ? [] : [{ kind: "need", text }], ...more };
}

export function scenarioOf(...modules: readonly Module[]): Scenario {
  return { id: "s", description: "", modules };
}

/** What the router makes of one module on its own. */
export async function decide(module: Module, settings: RouterSettings = {}): Promise<Decision> {
  const [decision] = (await route(scenarioOf(module), settings)).decisions;
  if (decision === undefined) throw new Error("one module, and no decision");
  return decision;
}

/** What the router makes of one text on its own. */
export function decideText(text: string, settings: RouterSettings = {}): Promise<Decision> {
  return decide(moduleSaying(text), settings);
}
