import { AgentError } from "../../src/index.js";
import type { DecisionRecord, Decisions } from "../../src/public/network.js";
import {
  type CapabilityId,
  judge,
  parseScenarioText,
  type ReadScenarios,
  readScenarios,
  route,
  type Scenario,
} from "../../src/router/index.js";
import { type LocatedDocument, parseLocated } from "../config/index.js";
import type { PlanDocument } from "./plan-schema.js";

/** The decisions of a plan, and what routing found about its modules. */
export interface Routed {
  readonly decisions: Decisions;
  readonly found: ReadonlyMap<string, { readonly neighbours: readonly string[]; readonly requires: readonly CapabilityId[] }>;
}

type ReadRelated = (path: string) => Promise<string>;

/** The decisions of a plan: inline, from a file, or routed from its scenario. */
export async function decisionsOf({ decisions, scenario, abstain }: PlanDocument, read: ReadRelated): Promise<Routed> {
  if (typeof decisions === "string") return { decisions: await decisionsIn(decisions, read), found: new Map() };
  if (decisions !== undefined) return { decisions, found: new Map() };
  return routed(await scenarioOf(scenario, read), abstain);
}

/** Parses a document; errors name the line. */
export async function documentIn(text: string, name: string): Promise<LocatedDocument> {
  const parsed = await parseLocated(text);
  if (parsed.kind === "document") return parsed;
  throw new AgentError("decode", `${name}:${parsed.position.line}: the document ${parsed.message}`);
}

/** Accepts the output of `koine route -o json`, a list, or records by module. */
async function decisionsIn(file: string, read: ReadRelated): Promise<Decisions> {
  const { value } = await documentIn(await read(file), file);
  const inner = isRecord(value) && Array.isArray(value["decisions"]) ? value["decisions"] : value;
  const records: readonly unknown[] = Array.isArray(inner) ? inner : isRecord(inner) ? Object.values(inner) : [];
  if (records.length === 0 || !records.every(isDecision))
    throw new AgentError("invalid_message", `${file} contains no decisions`, { field: "decisions" });
  return inner as Decisions; // every record was checked
}

function isDecision(value: unknown): value is DecisionRecord {
  if (!isRecord(value)) return false;
  const { selected_protocol: chosen, module_id: id } = value;
  return (typeof chosen === "string" || chosen === null) && (id === undefined || typeof id === "string");
}

function isRecord(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function scenarioOf(given: PlanDocument["scenario"], read: ReadRelated): Promise<Scenario> {
  const found = typeof given === "string" ? await parseScenarioText(await read(given), given) : readScenarios(given);
  return onlyOne(found);
}

function onlyOne({ scenarios, excluded }: ReadScenarios): Scenario {
  const [problem] = excluded;
  if (problem !== undefined)
    throw new AgentError("invalid_message", `${problem.where} ${problem.because}`, { field: "scenario" });
  const [scenario] = scenarios;
  if (scenario === undefined || scenarios.length > 1)
    throw new AgentError("invalid_message", `a plan must have exactly one scenario, not ${scenarios.length}`, {
      field: "scenario",
    });
  return scenario;
}

async function routed(scenario: Scenario, abstain: PlanDocument["abstain"]): Promise<Routed> {
  const settings = abstain === undefined ? {} : { abstain: { kind: "default", protocol: abstain } as const };
  const { decisions } = await route(scenario, settings);
  const found = scenario.modules.map((module) => {
    const { constraints } = judge(scenario, module, settings);
    const requires = constraints.filter(({ kind }) => kind === "requires").map(({ capability }) => capability);
    return [module.id, { neighbours: module.neighbours ?? [], requires }] as const;
  });
  return { decisions, found: new Map(found) };
}
