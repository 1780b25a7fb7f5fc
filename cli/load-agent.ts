import { stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Agent, type AgentFunction, agent } from "../src/index.js";
import { CliError, EXIT, usageError } from "./exit.js";

const EXTENSIONS: ReadonlySet<string> = new Set([".js", ".mjs", ".cjs", ".ts", ".mts"]);
const SHAPE = "It needs a default export made by agent({ … }), or `export function handle(message, task) { … }`.";

/** The agents of a module: its default export or `agent`, made by `agent()`; or a function, then named after the file. */
export async function loadAgents(path: string): Promise<readonly Agent[]> {
  const file = resolve(path);
  const extension = extname(file);
  if (!EXTENSIONS.has(extension)) throw usageError(`${path} is not a module`, "An agent is a .ts, .js or .mjs file.");
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw usageError(`there is no file ${path}`);
  const module = await importModule(file, path);
  const exported = module["default"] ?? module["agent"] ?? module["handle"];
  if (Array.isArray(exported) && exported.length > 0 && exported.every(isAgent)) return exported;
  if (isAgent(exported)) return [exported];
  const handle = isFunction(exported) ? exported : module["handle"];
  if (!isFunction(handle)) throw new CliError(EXIT.failure, `${path} exports no agent`, { hint: SHAPE });
  return [agent({ name: nameOf(file, extension), description: `The agent in ${basename(file)}`, handle })];
}

interface Exports {
  readonly [name: string]: unknown;
}

/** A module of the older kind, made from the newer one, has all its exports under `default`. */
function exportsOf(namespace: unknown): Exports {
  const module = namespace as Exports; // a module's namespace is an object whatever it exports
  const inner = module["default"];
  return typeof inner === "object" && inner !== null && "__esModule" in inner ? (inner as unknown as Exports) : module;
}

async function importModule(file: string, path: string): Promise<Exports> {
  try {
    if (extname(file).endsWith("ts")) {
      // Registered for the whole process instead of imported aside, so that the agent's `koine` is this very `koine`. For both
      // kinds of module: without "type": "module" in the nearest package.json a .ts file is taken for the older kind.
      const [esm, cjs] = await Promise.all([import("tsx/esm/api"), import("tsx/cjs/api")]);
      esm.register();
      cjs.register();
    }
    return exportsOf(await import(pathToFileURL(file).href));
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const hint = /'koine'/.test(message) ? "Install koine next to the agent: npm install koine" : undefined;
    throw new CliError(EXIT.failure, `${path} cannot be loaded: ${message}`, hint === undefined ? {} : { hint });
  }
}

/** By shape, not by identity: the module may have brought a koine of its own. */
function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false;
  const { name, card, handle, bindSelf } = value as { readonly [member: string]: unknown };
  return typeof name === "string" && typeof card === "object" && isFunction(handle) && isFunction(bindSelf);
}

function isFunction(value: unknown): value is AgentFunction {
  return typeof value === "function";
}

function nameOf(file: string, extension: string): string {
  const plain = basename(file, extension)
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64);
  return plain === "" ? "agent" : plain;
}
