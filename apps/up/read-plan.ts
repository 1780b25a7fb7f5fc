import { dirname, resolve } from "node:path";
import { AgentError } from "../../src/index.js";
import { buildNetwork, type Decisions, type Network } from "../../src/public/network.js";
import { protocols } from "../../src/public/protocols.js";
import { formatPath, type LocatedDocument, type MemberPath, parsePath, readDocument, settingProblems } from "../config/index.js";
import { decisionsOf, documentIn, type Routed } from "./plan-decisions.js";
import { PLAN_SCHEMA, type PlanDocument, type PlanModule, type PlanSettings } from "./plan-schema.js";
import { canDemandToken, demandsIdentity } from "./plan-tokens.js";

/** A validated plan: its modules, decisions and network. */
export interface Plan {
  /** Base directory of relative paths. */
  readonly folder: string;
  readonly modules: readonly PlanModule[];
  readonly decisions: Decisions;
  readonly network: Network;
  readonly settings: PlanSettings;
}

/** Reads a plan file. Errors name file, line and member. */
export async function readPlan(file: string): Promise<Plan> {
  return parsePlan(await readDocument(file), { name: file, folder: dirname(resolve(file)) });
}

/** Parses a plan from text; relative paths start at the folder. */
export async function parsePlan(
  text: string,
  { name, folder }: { readonly name: string; readonly folder: string },
): Promise<Plan> {
  const located = await documentIn(text, name);
  const problemAt = problemFactory(located, name);
  const parsed = PLAN_SCHEMA.safeParse(located.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
    const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    throw unknown === undefined
      ? problemAt(path, issue?.message ?? "is not a valid plan")
      : problemAt([...path, unknown], "is unknown");
  }
  const document = parsed.data;
  const { settings = {} } = document;
  for (const { path, problem } of settingProblems(settings)) throw problemAt(path, problem);
  const readRelated = async (path: string): Promise<string> => readDocument(resolve(folder, path));
  const routed = await withPosition(() => decisionsOf(document, readRelated), problemAt, document);
  const modules = document.modules.map((module) => withRouted(module, routed));
  const network = await withPosition(
    () => buildNetwork(routed.decisions, modules, { allowDowngrade: document.allowDowngrade }),
    problemAt,
    document,
  );
  checkPins(modules, network, problemAt);
  checkIdentity(modules, network, problemAt);
  return { folder, modules, decisions: routed.decisions, network, settings };
}

type ProblemFactory = (path: MemberPath, problem: string, code?: AgentError["code"]) => AgentError;

function problemFactory(located: LocatedDocument, name: string): ProblemFactory {
  return (path, problem, code = "invalid_message") => {
    const member = formatPath(path);
    return new AgentError(
      code,
      `${name}:${located.keyPositionOf(path).line}: ${member === "" ? "the plan" : member} ${problem}`,
      {
        field: member,
      },
    );
  };
}

/** Adds the position in the plan to errors of the router and the network builder. */
async function withPosition<T>(work: () => T | Promise<T>, problemAt: ProblemFactory, document: PlanDocument): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || thrown.facts.field === undefined) throw thrown;
    const { path, prefix } = pathInPlan(thrown.facts.field, document);
    throw problemAt(path, `${prefix}: ${thrown.message}`, thrown.code);
  }
}

/** A link is located at its source module; other fields at their own path. */
function pathInPlan(field: string, { modules }: PlanDocument): { readonly path: MemberPath; readonly prefix: string } {
  const path = parsePath(field);
  if (path[0] !== "links") return { path, prefix: "is rejected" };
  const index = modules.findIndex(({ id }) => field.startsWith(`links.${id}.`));
  const dst = field.slice(`links.${modules[index]?.id ?? ""}.`.length);
  const member = modules[index]?.neighbours?.includes(dst) === true ? "neighbours" : "neighbors";
  const at = modules[index]?.[member]?.indexOf(dst) ?? -1;
  return { path: at < 0 ? ["modules", index] : ["modules", index, member, at], prefix: "is rejected" };
}

/** Adds what routing found about a module. Credentials imply enterprise-auth. */
function withRouted({ neighbors = [], ...module }: PlanModule, { found }: Routed): PlanModule {
  const more = found.get(module.id);
  const declared = [...(module.neighbours ?? []), ...neighbors];
  const implied = module.credentials === undefined ? [] : (["enterprise-auth"] as const);
  return {
    ...module,
    neighbours: declared.length > 0 ? declared : [...(more?.neighbours ?? [])],
    requires: [...new Set([...(module.requires ?? []), ...(more?.requires ?? []), ...implied])],
  };
}

function checkPins(modules: readonly PlanModule[], { nodes }: Network, problemAt: ProblemFactory): void {
  for (const [index, { id, pin }] of modules.entries()) {
    const problem = pin === undefined ? undefined : pinProblem(pin, nodes.find((node) => node.id === id)?.spokenBy);
    if (problem !== undefined) throw problemAt(["modules", index, "pin"], problem);
  }
}

/** A module whose callers must be identified needs something to identify them by. */
function checkIdentity(modules: readonly PlanModule[], network: Network, problemAt: ProblemFactory): void {
  for (const [index, module] of modules.entries()) {
    if (module.credentials !== undefined || canDemandToken(module) || !demandsIdentity({ network }, module.id)) continue;
    throw problemAt(
      ["modules", index],
      `needs credentials: a link to ${module.id} has identity on, and nothing identifies its callers`,
      "downgrade_refused",
    );
  }
}

function pinProblem(pin: string, spokenBy: string | undefined): string | undefined {
  const [name = ""] = pin.split("/", 1);
  const [id, version] = name.split("@", 2);
  const protocol = protocols.find((each) => each.id === id);
  if (protocol === undefined)
    return `names unknown protocol ${JSON.stringify(id)}; available: ${protocols.map((each) => each.id).join(", ")}`;
  if (id !== spokenBy) return `names ${id}, but the decision is for ${spokenBy ?? "a protocol that is not registered"}`;
  if (version === undefined || protocol.versions.includes(version)) return undefined;
  return `names unknown version ${version}; available: ${protocol.versions.join(", ")}`;
}
