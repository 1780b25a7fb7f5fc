import { dirname, resolve } from "node:path";
import { AgentError } from "../../src/index.js";
import { buildNetwork, type Decisions, type Network } from "../../src/public/network.js";
import { protocols } from "../../src/public/protocols.js";
import { type MemberPath, memberOf, type PlacedDocument, pathOf, readDocument } from "../config/index.js";
import { decisionsOf, documentIn, type Routed } from "./plan-decisions.js";
import { PLAN_SCHEMA, type PlanDocument, type PlanModule } from "./plan-schema.js";

/** A plan that fits together: what runs, how, and what network it makes. */
export interface Plan {
  /** Paths of the plan are read from here. */
  readonly folder: string;
  readonly modules: readonly PlanModule[];
  readonly decisions: Decisions;
  readonly network: Network;
}

/** Reads a plan file. What is wrong is said with file, line and member. */
export async function readPlan(file: string): Promise<Plan> {
  return parsePlan(await readDocument(file), { name: file, folder: dirname(resolve(file)) });
}

/** The same from text; relative paths in it are below the folder. */
export async function parsePlan(
  text: string,
  { name, folder }: { readonly name: string; readonly folder: string },
): Promise<Plan> {
  const placed = await documentIn(text, name);
  const complain = complainer(placed, name);
  const parsed = PLAN_SCHEMA.safeParse(placed.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
    const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    throw unknown === undefined ? complain(path, issue?.message ?? "is no plan") : complain([...path, unknown], "is not known");
  }
  const document = parsed.data;
  const readRelated = async (path: string): Promise<string> => readDocument(resolve(folder, path));
  const routed = await placing(() => decisionsOf(document, readRelated), complain, document);
  const modules = document.modules.map((module) => withRouted(module, routed));
  const network = await placing(
    () => buildNetwork(routed.decisions, modules, { allowDowngrade: document.allowDowngrade }),
    complain,
    document,
  );
  checkPins(modules, network, complain);
  return { folder, modules, decisions: routed.decisions, network };
}

type Complain = (path: MemberPath, problem: string, code?: AgentError["code"]) => AgentError;

function complainer(placed: PlacedDocument, name: string): Complain {
  return (path, problem, code = "invalid_message") => {
    const member = memberOf(path);
    return new AgentError(code, `${name}:${placed.nameSpotOf(path).line}: ${member === "" ? "the plan" : member} ${problem}`, {
      field: member,
    });
  };
}

/** What the builder and the router refuse, with its line. */
async function placing<T>(work: () => T | Promise<T>, complain: Complain, document: PlanDocument): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || thrown.facts.field === undefined) throw thrown;
    const { path, said } = pathInPlan(thrown.facts.field, document);
    throw complain(path, `${said}: ${thrown.message}`, thrown.code);
  }
}

/** A link is written at the module it leaves; all else is where it says it is. */
function pathInPlan(field: string, { modules }: PlanDocument): { readonly path: MemberPath; readonly said: string } {
  const path = pathOf(field);
  if (path[0] !== "links") return { path, said: "is refused" };
  const index = modules.findIndex(({ id }) => field.startsWith(`links.${id}.`));
  const dst = field.slice(`links.${modules[index]?.id ?? ""}.`.length);
  const member = modules[index]?.neighbours?.includes(dst) === true ? "neighbours" : "neighbors";
  const at = modules[index]?.[member]?.indexOf(dst) ?? -1;
  return { path: at < 0 ? ["modules", index] : ["modules", index, member, at], said: "is refused" };
}

/** What routing found out about a module is added to what the plan says of it, and who has credentials asks who calls. */
function withRouted({ neighbors = [], ...module }: PlanModule, { found }: Routed): PlanModule {
  const more = found.get(module.id);
  const said = [...(module.neighbours ?? []), ...neighbors];
  const asks = module.credentials === undefined ? [] : (["enterprise-auth"] as const);
  return {
    ...module,
    neighbours: said.length > 0 ? said : [...(more?.neighbours ?? [])],
    requires: [...new Set([...(module.requires ?? []), ...(more?.requires ?? []), ...asks])],
  };
}

function checkPins(modules: readonly PlanModule[], { nodes }: Network, complain: Complain): void {
  for (const [index, { id, pin }] of modules.entries()) {
    const problem = pin === undefined ? undefined : whyNotBy(pin, nodes.find((node) => node.id === id)?.spokenBy);
    if (problem !== undefined) throw complain(["modules", index, "pin"], problem);
  }
}

function whyNotBy(pin: string, spokenBy: string | undefined): string | undefined {
  const [way = ""] = pin.split("/", 1);
  const [id, version] = way.split("@", 2);
  const protocol = protocols.find((each) => each.id === id);
  if (protocol === undefined) return `names ${JSON.stringify(id)}; there are: ${protocols.map((each) => each.id).join(", ")}`;
  if (id !== spokenBy) return `names ${id}, and the decision is for ${spokenBy ?? "a protocol that is not registered"}`;
  if (version === undefined || protocol.versions.includes(version)) return undefined;
  return `names version ${version}; ${id} has ${protocol.versions.join(", ")}`;
}
