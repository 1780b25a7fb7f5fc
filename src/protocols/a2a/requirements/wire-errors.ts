import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { demand, show } from "./duty.js";

/** An error as it was seen, whatever shape carried it. */
export interface SeenError {
  readonly httpStatus: number;
  /** The JSON-RPC code, where there is one. */
  readonly code: Maybe<number>;
  /** From ErrorInfo, or from a problem type URI. */
  readonly reason: Maybe<string>;
  readonly domain: Maybe<string>;
  readonly message: string;
  readonly details: readonly unknown[];
  readonly raw: unknown;
}

interface ErrorRow {
  readonly code: number;
  /** The statuses of both published tables, 1.0.1 first, then 1.0.0. */
  readonly http: readonly number[];
  /** One of the nine of A2A; the generic ones have no reason of their own. */
  readonly own: boolean;
}

/** A2A 1.0 §5.4, with the HTTP statuses of both patch versions: a peer cannot tell which one it talks to. */
export const ERROR_ROWS = {
  TASK_NOT_FOUND: { code: -32001, http: [404], own: true },
  TASK_NOT_CANCELABLE: { code: -32002, http: [400, 409], own: true },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, http: [400], own: true },
  UNSUPPORTED_OPERATION: { code: -32004, http: [400], own: true },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32005, http: [400, 415], own: true },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { code: -32007, http: [400], own: true },
  EXTENSION_SUPPORT_REQUIRED: { code: -32008, http: [400], own: true },
  VERSION_NOT_SUPPORTED: { code: -32009, http: [400], own: true },
  PARSE_ERROR: { code: -32700, http: [400], own: false },
  INVALID_REQUEST: { code: -32600, http: [400], own: false },
  METHOD_NOT_FOUND: { code: -32601, http: [404, 405, 501], own: false },
  INVALID_PARAMS: { code: -32602, http: [400, 422], own: false },
} as const satisfies Record<string, ErrorRow>;
export type ErrorName = keyof typeof ERROR_ROWS;

export const ERROR_DOMAIN = "a2a-protocol.org";
export const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const PROBLEM_PREFIX = "https://a2a-protocol.org/errors/";

/** The error member of a JSON-RPC response. */
export function seeRpcError(raw: JsonObject, httpStatus: number): SeenError {
  const details = Array.isArray(raw["data"]) ? raw["data"] : [];
  return assemble(raw, { httpStatus, code: numberOf(raw["code"]), message: textOf(raw["message"]), details });
}

/** A REST error body in any of its three published shapes, or none. */
export function seeRestError(body: unknown, httpStatus: number): SeenError {
  const outer = isObject(body) ? body : {};
  const inner = isObject(outer["error"]) ? outer["error"] : outer;
  const details = Array.isArray(inner["details"]) ? inner["details"] : [];
  const message = textOf(inner["message"]) || textOf(inner["detail"]) || textOf(inner["title"]);
  const code = numberOf(inner["code"]);
  const seen = assemble(body, { httpStatus, code: code !== undefined && code < 0 ? code : undefined, message, details });
  const type = textOf(outer["type"]);
  if (seen.reason !== undefined || !type.startsWith(PROBLEM_PREFIX)) return seen;
  return { ...seen, reason: type.slice(PROBLEM_PREFIX.length).toUpperCase().replaceAll("-", "_") };
}

function assemble(raw: unknown, parts: Omit<SeenError, "reason" | "domain" | "raw">): SeenError {
  const infos = parts.details.filter(isObject).filter((detail) => detail["@type"] === ERROR_INFO);
  const info = infos.find(({ domain }) => domain === ERROR_DOMAIN) ?? infos[0];
  return { ...parts, reason: textOf(info?.["reason"]) || undefined, domain: textOf(info?.["domain"]) || undefined, raw };
}

/** Is it this error? By reason where one was sent, else by the binding's own code or status. */
export function isError(error: SeenError, name: ErrorName): boolean {
  const row: ErrorRow = ERROR_ROWS[name];
  if (error.code !== undefined)
    return error.code === row.code && (error.reason === undefined || !row.own || error.reason === name);
  if (row.own && error.reason !== undefined) return error.reason === name && row.http.includes(error.httpStatus);
  return row.http.includes(error.httpStatus);
}

/** Demands one of the named errors. */
export function demandError(error: Maybe<SeenError>, names: readonly ErrorName[], got: unknown): SeenError {
  demand(error !== undefined, `expected ${names.join(" or ")}, got the result ${show(got)}`);
  demand(
    names.some((name) => isError(error, name)),
    `expected ${names.join(" or ")}, got ${showError(error)}`,
  );
  return error;
}

export function showError(error: SeenError): string {
  const code = error.code === undefined ? "" : `, code ${error.code}`;
  return `HTTP ${error.httpStatus}${code}, reason ${error.reason ?? "none"}: ${show(error.message)}`;
}

/** Does the error say which member is wrong? In its words or in its details, in either spelling. */
export function namesField(error: SeenError, field: string): boolean {
  const said = `${error.message} ${JSON.stringify(error.details)} ${JSON.stringify(error.raw)}`.toLowerCase();
  const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return said.includes(field.toLowerCase()) || said.includes(snake);
}

const numberOf = (value: unknown): Maybe<number> => (typeof value === "number" ? value : undefined);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
