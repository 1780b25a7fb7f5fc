import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { type Agent, AgentError, type AgentFunction, agent } from "../src/index.js";

const EXTENSIONS: ReadonlySet<string> = new Set([".js", ".mjs", ".cjs", ".ts", ".mts"]);

interface Exports {
  readonly [name: string]: unknown;
}

/** The one agent of a module: its default export, `agent`, or a function `handle`, which then bears the given name. */
export async function loadAgent(file: string, name: string): Promise<Agent> {
  if (!EXTENSIONS.has(extname(file)) || (await stat(file).catch(() => undefined))?.isFile() !== true)
    throw new AgentError("not_found", `${file} is no module; an agent is a .ts, .js or .mjs file`, { field: "agent" });
  const module = await importModule(file);
  const exported = module["default"] ?? module["agent"] ?? module["handle"];
  if (isAgent(exported)) return exported;
  const handle = isFunction(exported) ? exported : module["handle"];
  if (isFunction(handle)) return agent({ name, description: `The agent in ${basename(file)}`, handle });
  throw new AgentError(
    "invalid_message",
    `${file} exports no agent: it needs a default export made by agent(), or a function handle`,
    {
      field: "agent",
    },
  );
}

async function importModule(file: string): Promise<Exports> {
  if (extname(file).endsWith("ts")) {
    // For the whole process, so that the agent's `koine` is this very `koine`; a .ts file may be taken for either kind of module.
    const [esm, cjs] = await Promise.all([import("tsx/esm/api"), import("tsx/cjs/api")]);
    esm.register();
    cjs.register();
  }
  const module = (await import(pathToFileURL(file).href)) as Exports; // a module's namespace is an object whatever it exports
  const inner = module["default"];
  // A module of the older kind, made from the newer one, has all its exports under `default`.
  return typeof inner === "object" && inner !== null && "__esModule" in inner ? (inner as unknown as Exports) : module;
}

/** By shape, not by identity: the module may have brought a koine of its own. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  const { name, card, handle, bindSelf } = value as Exports;
  return typeof name === "string" && typeof card === "object" && isFunction(handle) && isFunction(bindSelf);
}

function isFunction(value: unknown): value is AgentFunction {
  return typeof value === "function";
}
