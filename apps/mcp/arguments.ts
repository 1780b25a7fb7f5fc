import { AgentError, type Json, type JsonObject, type Maybe, type Part, textPart } from "../../src/index.js";
import { LIMITS } from "./limits.js";

/** The checked arguments of a tool call. */
export interface AgentRequest {
  readonly content: readonly Part[];
  readonly session: Maybe<string>;
  readonly task: Maybe<string>;
}

const ID_CHARS = 512;
const KNOWN = new Set(["message", "session", "task", "data", "files"]);

/** Checks the arguments of a call. Error messages name the field, so that a model can correct it. */
export function readArguments(given: unknown): AgentRequest {
  if (!isRecord(given)) throw wrong("arguments", "must be an object");
  for (const name of Object.keys(given))
    if (!KNOWN.has(name)) throw wrong(name, `is unknown; available: ${[...KNOWN].join(", ")}`);
  const { message, data, files = [] } = given;
  if (typeof message !== "string") throw wrong("message", "must be a string");
  const task = idIn(given, "task");
  const content: Part[] = message === "" ? [] : [textPart(message)];
  if (data !== undefined) {
    if (!isRecord(data)) throw wrong("data", "must be an object");
    content.push({ kind: "data", data: data as JsonObject }); // it was parsed from JSON
  }
  if (!Array.isArray(files) || files.length > LIMITS.files) throw wrong("files", `must be an array of at most ${LIMITS.files}`);
  content.push(...files.map(filePart));
  if (content.length === 0 && task === undefined)
    throw wrong("message", "must not be empty without `data`, `files` or a `task` to wait for");
  return { content, session: idIn(given, "session"), task };
}

/** Models send an empty string for an absent value. */
function idIn(given: { readonly [name: string]: unknown }, name: string): Maybe<string> {
  const id = given[name];
  if (id === undefined || id === null || id === "") return undefined;
  if (typeof id !== "string" || id.length > ID_CHARS) throw wrong(name, `must be a string of at most ${ID_CHARS} characters`);
  return id;
}

function filePart(file: unknown, index: number): Part {
  const at = `files[${index}]`;
  if (!isRecord(file)) throw wrong(at, "must be an object");
  const { base64, url } = file;
  const about = { name: textIn(file, "name", at), mediaType: textIn(file, "mediaType", at) };
  if ((base64 === undefined) === (url === undefined)) throw wrong(at, "must have either `base64` or `url`");
  if (url !== undefined) {
    if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw wrong(`${at}.url`, "must be an http or https URL");
    return { kind: "url", url, ...about };
  }
  const bytes = Buffer.from(typeof base64 === "string" ? base64 : "", "base64");
  // Node ignores invalid base64 characters; encoding again reveals them.
  if (bytes.toString("base64") !== base64) throw wrong(`${at}.base64`, "is not base64");
  return { kind: "raw", bytes, ...about };
}

function textIn(file: { readonly [name: string]: unknown }, name: string, at: string): Maybe<string> {
  const text = file[name];
  if (text === undefined) return undefined;
  if (typeof text !== "string" || text.length > ID_CHARS)
    throw wrong(`${at}.${name}`, `must be a string of at most ${ID_CHARS} characters`);
  return text;
}

function isRecord(value: unknown): value is { readonly [name: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `${field} ${problem}`, { field, sent: "no" });
}
