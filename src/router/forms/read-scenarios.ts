import { AgentError, isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import { featureRows } from "../../protocols/candidates.js";
import type { Features } from "../../protocols/features.js";
import type { Scenario } from "../scenario.js";
import { contextOf, type ReadContext } from "./answers.js";
import { type PlacedRecord, parseText, UNREADABLE } from "./document.js";
import { checkScenario } from "./finish.js";
import { readLabelled } from "./labelled.js";
import { SCENARIOS_PER_FILE } from "./limits.js";
import { Malformed } from "./members.js";
import { readOwn } from "./own.js";
import { readReleased } from "./released.js";
import { readRoles } from "./roles.js";

/** A scenario that was excluded because a record of it is malformed or missing. */
export interface Excluded {
  readonly scenario_id: string | undefined;
  /** A path, such as `scenarios[2].modules[0].text`, or a line and a path. */
  readonly where: string;
  readonly because: string;
}

/** The scenarios of a file, and the entries that were left out. */
export interface ReadScenarios {
  readonly scenarios: readonly Scenario[];
  readonly excluded: readonly Excluded[];
}

export interface ReadOptions {
  /** The protocols that a file may name. Default: all registered or described ones. */
  readonly rows?: Maybe<readonly Features[]>;
  /** Whether malformed labels and levels exclude their scenario. Default: false, they are ignored. */
  readonly answers?: Maybe<boolean>;
}

type Reader = (record: unknown, context: ReadContext) => Scenario;

/** The scenarios of a parsed document: one, a list, or `{ scenarios: […] }`, in any of the four forms. */
export function readScenarios(document: unknown, options: ReadOptions = {}): ReadScenarios {
  return readRecords(recordsOf(document), options);
}

/** The scenarios of a file's text: JSON, JSON lines or YAML. The file name is only a hint. */
export async function parseScenarioText(text: string, name?: string, options: ReadOptions = {}): Promise<ReadScenarios> {
  const parsed = await parseText(text, name);
  if (parsed.kind === "lines") return readRecords(parsed.records, options);
  const { scenarios, excluded } = readRecords(recordsOf(parsed.value), options);
  return { scenarios, excluded: excluded.length === 0 ? [] : await located(excluded, text) };
}

/** With the lines of what is malformed. */
async function located(excluded: readonly Excluded[], text: string): Promise<readonly Excluded[]> {
  const { linesIn } = await import("./locate.js");
  const lineOf = await linesIn(text);
  return excluded.map((each) => {
    const line = lineOf?.(each.where);
    return line === undefined ? each : { ...each, where: `line ${line}: ${each.where}` };
  });
}

function readRecords(records: readonly PlacedRecord[], { rows = featureRows(), answers = false }: ReadOptions): ReadScenarios {
  if (records.length > SCENARIOS_PER_FILE)
    throw new AgentError("too_large", `there are ${records.length} scenarios, and one file may have ${SCENARIOS_PER_FILE}`);
  const context = contextOf(rows, answers);
  const scenarios: Scenario[] = [];
  const excluded: Excluded[] = [];
  for (const record of records) {
    try {
      scenarios.push(readRecord(record.value, context));
    } catch (thrown) {
      if (!(thrown instanceof Malformed)) throw thrown;
      const { where, because } = thrown;
      excluded.push({ scenario_id: idIn(record.value), where: joinPosition(record.position, where), because });
    }
  }
  return { scenarios, excluded };
}

function recordsOf(document: unknown): readonly PlacedRecord[] {
  const listed = isObject(document) && Object.hasOwn(document, "scenarios") ? document["scenarios"] : undefined;
  if (Array.isArray(listed)) return placed(listed, "scenarios");
  if (Array.isArray(document)) return placed(document, "");
  if (isObject(document)) return [{ position: "", value: document }];
  throw new AgentError("invalid_message", "it holds no scenario: neither an object nor a list of them");
}

function placed(list: readonly unknown[], name: string): readonly PlacedRecord[] {
  return list.map((value, index) => ({ position: `${name}[${index}]`, value }));
}

function joinPosition(position: string, where: string): string {
  if (position === "" || where === "") return position === "" ? where || "the scenario" : position;
  return position.startsWith("line") ? `${position}: ${where}` : `${position}.${where}`;
}

function readRecord(record: unknown, context: ReadContext): Scenario {
  if (record === UNREADABLE) throw new Malformed("", "is not JSON");
  if (!isObject(record)) throw new Malformed("", "must be an object");
  const scenario = readerOf(record)(record, context);
  checkScenario(scenario);
  return scenario;
}

/**
 * Every form has a member that no other has. A record without any is read as the native form, whose errors name what is
 * missing.
 */
function readerOf(record: JsonObject): Reader {
  if (Object.hasOwn(record, "module")) return readReleased;
  if (!Object.hasOwn(record, "scenario_id")) return readOwn;
  const modules = Array.isArray(record["modules"]) ? record["modules"] : [];
  const some = (name: string): boolean => modules.some((module) => isObject(module) && Object.hasOwn(module, name));
  return some("role") && !some("text") ? readRoles : readLabelled;
}

function idIn(record: unknown): string | undefined {
  if (!isObject(record)) return undefined;
  const id = ["scenario_id", "scenario", "id"].flatMap((name) => (Object.hasOwn(record, name) ? [record[name]] : []))[0];
  return typeof id === "string" ? id : undefined;
}
