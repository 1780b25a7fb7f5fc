import { stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Agent, AgentError, type AgentFunction, agent } from "../../src/index.js";

const EXTENSIONS: ReadonlySet<string> = new Set([".js", ".mjs", ".cjs", ".ts", ".mts"]);
const LONGEST_NAME = 64;

interface Exports {
  readonly [name: string]: unknown;
}

/**
 * Loads the agents that a module exports as `default` or `agent`: one made by `agent()`, a list of them, or a handler function,
 * which is named `name` or after the file. Errors of the module itself are not wrapped.
 */
export async function loadAgents(path: string, name?: string): Promise<readonly Agent[]> {
  const file = resolve(path);
  if (!EXTENSIONS.has(extname(file)))
    throw new AgentError("not_found", `${path} is not a module; an agent is a .ts, .js or .mjs file`, { field: "agent" });
  if ((await stat(file).catch(() => undefined))?.isFile() !== true)
    throw new AgentError("not_found", `file ${path} does not exist`, { field: "agent" });
  const module = await importModule(file);
  const exported = module["default"] ?? module["agent"] ?? module["handle"];
  if (Array.isArray(exported) && exported.length > 0 && exported.every(isAgent)) return exported;
  if (isAgent(exported)) return [exported];
  const handle = isFunction(exported) ? exported : module["handle"];
  if (!isFunction(handle)) throw new AgentError("invalid_message", `${path} exports no agent`, { field: "agent" });
  return [agent({ name: name ?? nameFor(file), description: `The agent in ${basename(file)}`, handle })];
}

async function importModule(file: string): Promise<Exports> {
  if (extname(file).endsWith("ts")) {
    // Registered for the whole process, so that the agent imports this same instance of koine. CommonJS too: without
    // "type": "module" in the nearest package.json a .ts file is CommonJS.
    const [esm, cjs] = await Promise.all([import("tsx/esm/api"), import("tsx/cjs/api")]);
    esm.register();
    cjs.register();
  }
  const module = (await import(pathToFileURL(file).href)) as Exports; // a module namespace is always an object
  const inner = module["default"];
  // A CommonJS module compiled from ESM has all its exports under `default`.
  return typeof inner === "object" && inner !== null && "__esModule" in inner ? (inner as unknown as Exports) : module;
}

/** By shape, not by identity: the module may use its own copy of koine. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  const { name, card, handle, bindSelf } = value as Exports; // each is checked below
  return typeof name === "string" && typeof card === "object" && isFunction(handle) && isFunction(bindSelf);
}

function isFunction(value: unknown): value is AgentFunction {
  return typeof value === "function";
}

/** Keeps only characters that are valid in an agent's address. */
function nameFor(file: string): string {
  const plain = basename(file, extname(file))
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, LONGEST_NAME);
  return plain === "" ? "agent" : plain;
}
