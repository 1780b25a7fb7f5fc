import { AgentError, type Maybe } from "../../envelope/index.js";
import { DOCUMENT_DEPTH, SCENARIO_FILE_BYTES } from "./limits.js";
import { parseYaml } from "./parse-yaml.js";

/** A record of a file and its position. `value` is `UNREADABLE` if it cannot be parsed. */
export interface PlacedRecord {
  readonly position: string;
  readonly value: unknown;
}

/** The contents of a file: one document, or one record per line. */
export type ParsedText =
  | { readonly kind: "document"; readonly value: unknown }
  | { readonly kind: "lines"; readonly records: readonly PlacedRecord[] };

/** A line that is not JSON. It is excluded alone, like any malformed record. */
export const UNREADABLE = Symbol("a line that is not JSON");

/** Parses JSON, JSON lines or YAML, detected from the text. Throws `decode` or `too_large`. */
export async function parseText(text: string, name = ""): Promise<ParsedText> {
  // A character takes at least one byte, so this is never too strict.
  if (text.length > SCENARIO_FILE_BYTES) throw tooLarge();
  const plain = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (plain.trim() === "") throw new AgentError("decode", "the file is empty");
  const json = jsonIn(plain);
  if (json !== UNREADABLE) return { kind: "document", value: bounded(json) };
  if (hasRecordsOnLines(plain, name)) return { kind: "lines", records: recordsOf(plain) };
  const documents = (await yamlIn(plain)).map(bounded);
  return { kind: "document", value: documents.length === 1 ? documents[0] : documents };
}

/** Invalid JSON is tried as YAML too, a superset; JSON's own error is more precise if it has a position. */
async function yamlIn(text: string): Promise<readonly unknown[]> {
  try {
    return await parseYaml(text);
  } catch (thrown) {
    const complaint = AgentError.from(thrown).code === "decode" ? jsonComplaint(text) : undefined;
    throw complaint === undefined ? thrown : new AgentError("decode", complaint);
  }
}

function jsonComplaint(text: string): Maybe<string> {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (thrown) {
    const [, what = "", position = ""] = /^(.*) at position (\d+)/.exec(String(thrown).replace(/^SyntaxError: /, "")) ?? [];
    const line = text.slice(0, Number(position)).split("\n").length;
    return position === "" ? undefined : `line ${line}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  }
}

export function tooLarge(): AgentError {
  return new AgentError("too_large", `a scenario file may have ${SCENARIO_FILE_BYTES / 1024 / 1024} MiB`);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return UNREADABLE;
  }
}

/** True if the first of several lines is an object by itself, or the name says so and the first line opens one. */
function hasRecordsOnLines(text: string, name: string): boolean {
  const [first = "", second] = text.trim().split(/\r?\n\s*/, 2);
  if (!first.startsWith("{") || !first.trimEnd().endsWith("}")) return false;
  return second?.startsWith("{") === true || /\.(jsonl|ndjson)$/i.test(name);
}

function recordsOf(text: string): readonly PlacedRecord[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === "") return [];
    return [{ position: `line ${index + 1}`, value: bounded(jsonIn(line)) }];
  });
}

/** Rejects documents that nest too deep. Iterative, because the depth is untrusted. */
function bounded(value: unknown): unknown {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DOCUMENT_DEPTH) throw new AgentError("too_large", `nests deeper than ${DOCUMENT_DEPTH} levels`);
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return value;
}
