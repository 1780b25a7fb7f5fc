import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { RawResponse } from "../../ask.js";
import { demand, demandArray, demandObject, demandString, show } from "../../check.js";
import { RUN_STATUSES, WIRE_ERROR_CODES, type WireErrorCode } from "../wire.js";

/** The shapes that the official clients require. `null` and absent are equivalent. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The only form that the TypeScript client reads. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const ROLE = /^(user|agent(\/[a-zA-Z0-9_-]+)?)$/;
const OVER: readonly unknown[] = ["completed", "failed", "cancelled"];
const RUN_EVENTS = ["run.created", "run.in-progress", "run.awaiting", "run.completed", "run.failed", "run.cancelled"];

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** The run has ended. */
export const isOver = (status: unknown): boolean => OVER.includes(status);

export function demandUuid(value: unknown, name: string): string {
  demand(typeof value === "string" && UUID.test(value), `${name} is ${show(value)}, not a UUID`);
  return value;
}

export function demandTimestamp(value: unknown, name: string): string {
  demand(typeof value === "string" && TIMESTAMP.test(value), `${name} is ${show(value)}, not a UTC time that ends in Z`);
  return value;
}

/** A part: text, a URL or neither, in one of two encodings, with metadata of one of two kinds. */
export function demandPart(value: unknown, name = "part"): JsonObject {
  const part = demandObject(value, name);
  const { content, content_url: url, content_type: type, content_encoding: encoding, metadata } = part;
  demandString(type, `${name}.content_type`);
  demand(isAbsent(content) || typeof content === "string", `${name}.content is ${show(content)}`);
  demand(isAbsent(url) || typeof url === "string", `${name}.content_url is ${show(url)}`);
  demand(isAbsent(content) || isAbsent(url), `${name} has both content and content_url`);
  demand(isAbsent(encoding) || encoding === "plain" || encoding === "base64", `${name}.content_encoding is ${show(encoding)}`);
  const kind = isObject(metadata) ? metadata["kind"] : undefined;
  demand(isAbsent(metadata) || kind === "citation" || kind === "trajectory", `${name}.metadata is ${show(metadata)}`);
  return part;
}

export function demandMessage(value: unknown, name = "message"): JsonObject {
  const message = demandObject(value, name);
  demand(ROLE.test(String(message["role"])), `${name}.role is ${show(message["role"])}`);
  for (const part of demandArray(message["parts"], `${name}.parts`)) demandPart(part, `${name}.parts[]`);
  for (const member of ["created_at", "completed_at"] as const)
    if (!isAbsent(message[member])) demandTimestamp(message[member], `${name}.${member}`);
  return message;
}

export function demandErrorObject(value: unknown, name: string): JsonObject {
  const error = demandObject(value, name);
  demand(
    WIRE_ERROR_CODES.some((code) => code === error["code"]),
    `${name}.code is ${show(error["code"])}`,
  );
  demandString(error["message"], `${name}.message`);
  const { data } = error;
  demand(isAbsent(data) || isObject(data), `${name}.data is ${show(data)}`);
  return error;
}

export function demandRun(value: unknown, name: string): JsonObject {
  const run = demandObject(value, name);
  demandUuid(run["run_id"], `${name}'s run_id`);
  demandString(run["agent_name"], `${name}'s agent_name`);
  if (!isAbsent(run["session_id"])) demandUuid(run["session_id"], `${name}'s session_id`);
  demand(
    RUN_STATUSES.some((status) => status === run["status"]),
    `${name}'s status is ${show(run["status"])}`,
  );
  for (const message of demandArray(run["output"], `${name}'s output`)) demandMessage(message, "output[]");
  demandTimestamp(run["created_at"], `${name}'s created_at`);
  if (!isAbsent(run["finished_at"])) demandTimestamp(run["finished_at"], `${name}'s finished_at`);
  if (!isAbsent(run["error"])) demandErrorObject(run["error"], `${name}'s error`);
  return run;
}

export function demandEvent(value: unknown): JsonObject {
  const event = demandObject(value, "an event");
  const { type } = event;
  if (RUN_EVENTS.includes(String(type))) demandRun(event["run"], `the run of ${type}`);
  else if (type === "message.created" || type === "message.completed") demandMessage(event["message"], `the message of ${type}`);
  else if (type === "message.part") demandPart(event["part"]);
  else if (type === "generic") demandObject(event["generic"], "generic");
  else if (type === "error") demandErrorObject(event["error"], "the error of the stream");
  else demand(false, `an event has the type ${show(type)}`);
  return event;
}

export function demandManifest(value: unknown, name: string): JsonObject {
  const manifest = demandObject(value, name);
  demandString(manifest["name"], `${name}'s name`);
  for (const member of ["input_content_types", "output_content_types"] as const) {
    const types = demandArray(manifest[member], `${name}'s ${member}`);
    demand(types.length > 0, `${name}'s ${member} is empty`);
    for (const type of types) demandString(type, `${name}'s ${member}[]`);
  }
  const { metadata } = manifest;
  demand(isAbsent(metadata) || isObject(metadata), `${name}'s metadata is ${show(metadata)}`);
  return manifest;
}

/** An error in ACP format, with one of the given statuses and the matching code. */
export function demandRefusal(got: RawResponse, statuses: readonly number[], code: Maybe<WireErrorCode>): JsonObject {
  demand(statuses.includes(got.status), `answered ${got.status} ${show(got.json ?? got.text)}`);
  const error = demandErrorObject(got.json, "the error");
  demand(code === undefined || error["code"] === code, `code is ${show(error["code"])}`);
  return error;
}

/** The text of plain parts, joined as the SDKs join it. */
export function textIn(messages: unknown): string {
  return demandArray(messages, "output").flatMap(partsOf).filter(isPlainText).map(contentOf).join("");
}

/** All parts of one message. */
export function partsOf(message: unknown): readonly JsonObject[] {
  const parts = isObject(message) ? message["parts"] : undefined;
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}

const isPlainText = ({ content_type: type }: JsonObject): boolean => type === "text/plain";
export const contentOf = ({ content }: JsonObject): string => (typeof content === "string" ? content : "");
