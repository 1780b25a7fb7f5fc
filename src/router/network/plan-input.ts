import { AgentError, type Maybe } from "../../envelope/index.js";
import type { CapabilityId, Features } from "../../protocols/features.js";
import type { Protocol } from "../../protocols/protocol.js";
import { rowNamed } from "../forms/index.js";

/** The part of a decision the builder reads. */
export interface DecisionRecord {
  /** The module; required in a list. */
  readonly module_id?: Maybe<string>;
  /** The selected protocol; null if the router abstained. */
  readonly selected_protocol: string | null;
  /** The passages the decision is based on. */
  readonly evidence_spans?: Maybe<readonly string[]>;
}

/** A list of records, or records by module id. */
export type Decisions = readonly DecisionRecord[] | { readonly [moduleId: string]: DecisionRecord };

/** A module of the network to plan. */
export interface NetworkModule {
  /** Identifies the module. */
  readonly id: string;
  /** Ids of the modules it calls. */
  readonly neighbours?: Maybe<readonly string[]>;
  /** The same, as the seed specification spells it. */
  readonly neighbors?: Maybe<readonly string[]>;
  /** Capabilities its links must have. Default: none. */
  readonly requires?: Maybe<readonly CapabilityId[]>;
  /** Capabilities its protocol should not have. Default: none. */
  readonly avoids?: Maybe<readonly CapabilityId[]>;
}

/** A link with an explicitly allowed downgrade. */
export interface AllowedDowngrade {
  /** The id of the calling module. */
  readonly src: string;
  /** The id of the called module. */
  readonly dst: string;
  /** Who accepts it, and why; shown with the link. */
  readonly because?: Maybe<string>;
}

/** Options of the network plan. */
export interface NetworkSettings {
  /** Default: every registered protocol. */
  readonly protocols?: Maybe<readonly Protocol[]>;
  /** Default: no downgrades are allowed. */
  readonly allowDowngrade?: Maybe<readonly AllowedDowngrade[]>;
}

/** Limits of a plan. */
export const NETWORK_LIMITS = { modules: 1_000, links: 2_000 } as const;

/** A module with its decision. */
export interface DecidedModule {
  readonly id: string;
  readonly calls: readonly string[];
  readonly row: Features;
  readonly requires: readonly CapabilityId[];
  readonly avoids: readonly CapabilityId[];
  readonly evidence: readonly string[];
}

/** Joins modules and decisions, in the order of the modules. Errors name the inconsistent field. */
export function decidedModules(
  decisions: Decisions,
  modules: readonly NetworkModule[],
  rows: readonly Features[],
): readonly DecidedModule[] {
  if (modules.length > NETWORK_LIMITS.modules)
    throw new AgentError("too_large", `there are ${modules.length} modules, and a network may have ${NETWORK_LIMITS.modules}`, {
      field: "modules",
    });
  const records = recordsById(decisions);
  const ids = new Set<string>();
  for (const [index, { id }] of modules.entries()) {
    if (ids.has(id)) throw refused("conflict", `modules[${index}].id`, `two modules are called ${quoted(id)}`);
    ids.add(id);
  }
  return modules.map((module, index) => {
    const { id, requires = [], avoids = [] } = module;
    const record = records.get(id);
    if (record === undefined)
      throw refused("invalid_message", `decisions.${id}`, `nothing was decided about module ${quoted(id)}`);
    const calls = callsOf(module, index, ids);
    return { id, calls, row: rowOf(id, record, rows), requires, avoids, evidence: record.evidence_spans ?? [] };
  });
}

function recordsById(decisions: Decisions): ReadonlyMap<string, DecisionRecord> {
  const found = new Map<string, DecisionRecord>();
  for (const [path, id, record] of recordsWithPaths(decisions)) {
    if (found.has(id)) throw refused("conflict", path, `two decisions are about module ${quoted(id)}`);
    found.set(id, record);
  }
  return found;
}

function recordsWithPaths(decisions: Decisions): readonly (readonly [path: string, id: string, record: DecisionRecord])[] {
  if (isList(decisions))
    return decisions.map((record, index) => {
      const { module_id: id } = record;
      if (id === undefined)
        throw refused("invalid_message", `decisions[${index}].module_id`, "a decision in a list names its module");
      return [`decisions[${index}]`, id, record];
    });
  return Object.entries(decisions).map(([key, record]) => {
    const { module_id: id = key } = record;
    if (id !== key)
      throw refused("conflict", `decisions.${key}.module_id`, `the decision under ${quoted(key)} is about ${quoted(id)}`);
    return [`decisions.${key}`, id, record];
  });
}

/** `Array.isArray` does not narrow read-only arrays. */
function isList(decisions: Decisions): decisions is readonly DecisionRecord[] {
  return Array.isArray(decisions);
}

function callsOf(
  { id, neighbours = [], neighbors = [] }: NetworkModule,
  index: number,
  ids: ReadonlySet<string>,
): readonly string[] {
  const calls = [...neighbours, ...neighbors];
  for (const [at, other] of calls.entries()) {
    const path = `modules[${index}].neighbours[${at}]`;
    if (other === id) throw refused("invalid_message", path, `${quoted(id)} is its own neighbour`);
    if (!ids.has(other))
      throw refused("not_found", path, `${quoted(id)} has the neighbour ${quoted(other)}, which is not a module`);
    if (calls.indexOf(other) !== at) throw refused("conflict", path, `${quoted(id)} has the neighbour ${quoted(other)} twice`);
  }
  return calls;
}

function rowOf(id: string, { selected_protocol: name }: DecisionRecord, rows: readonly Features[]): Features {
  const path = `decisions.${id}.selected_protocol`;
  if (name === null) throw refused("invalid_message", path, `no protocol was chosen for module ${quoted(id)}`);
  const row = rowNamed(name, rows);
  if (row !== undefined) return row;
  const known = rows.map((each) => each.name).join(", ");
  throw refused("unsupported", path, `module ${quoted(id)} has the unknown protocol ${quoted(name)}; available: ${known}`);
}

function refused(code: "conflict" | "invalid_message" | "not_found" | "unsupported", field: string, message: string): AgentError {
  return new AgentError(code, message, { field });
}

function quoted(word: string): string {
  return JSON.stringify(word.slice(0, 200));
}
