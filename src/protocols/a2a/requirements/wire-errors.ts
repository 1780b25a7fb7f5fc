import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { demand, show } from "../../check.js";

/** A decoded error in any format. */
export interface ObservedError {
  readonly httpStatus: number;
  /** The JSON-RPC code, if there is one. */
  readonly code: Maybe<number>;
  /** The name of the gRPC status, if there is one. */
  readonly grpc: Maybe<string>;
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
  readonly grpc: readonly string[];
  /** One of the nine A2A errors; generic errors have no reason. */
  readonly own: boolean;
}

/** The gRPC status of three errors changed between patch versions. */
const CHANGED = ["FAILED_PRECONDITION", "UNIMPLEMENTED"] as const;

/** A2A 1.0 §5.4, with the statuses of both patch versions, which peers cannot distinguish. */
export const ERROR_ROWS = {
  TASK_NOT_FOUND: { code: -32001, http: [404], grpc: ["NOT_FOUND"], own: true },
  TASK_NOT_CANCELABLE: { code: -32002, http: [400, 409], grpc: ["FAILED_PRECONDITION"], own: true },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, http: [400], grpc: CHANGED, own: true },
  UNSUPPORTED_OPERATION: { code: -32004, http: [400], grpc: CHANGED, own: true },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32005, http: [400, 415], grpc: ["INVALID_ARGUMENT"], own: true },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { code: -32007, http: [400], grpc: ["FAILED_PRECONDITION"], own: true },
  EXTENSION_SUPPORT_REQUIRED: { code: -32008, http: [400], grpc: ["FAILED_PRECONDITION"], own: true },
  VERSION_NOT_SUPPORTED: { code: -32009, http: [400], grpc: CHANGED, own: true },
  PARSE_ERROR: { code: -32700, http: [400], grpc: ["INVALID_ARGUMENT"], own: false },
  INVALID_REQUEST: { code: -32600, http: [400], grpc: ["INVALID_ARGUMENT"], own: false },
  METHOD_NOT_FOUND: { code: -32601, http: [404, 405, 501], grpc: ["UNIMPLEMENTED"], own: false },
  INVALID_PARAMS: { code: -32602, http: [400, 422], grpc: ["INVALID_ARGUMENT"], own: false },
} as const satisfies Record<string, ErrorRow>;
export type ErrorName = keyof typeof ERROR_ROWS;

export const ERROR_DOMAIN = "a2a-protocol.org";
export const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const INTERNAL_ERROR = -32603;
const GRPC_FAULTS: ReadonlySet<string> = new Set(["UNKNOWN", "INTERNAL", "DATA_LOSS"]);
const PROBLEM_PREFIX = "https://a2a-protocol.org/errors/";

/** The error member of a JSON-RPC response. */
export function seeRpcError(raw: JsonObject, httpStatus: number): ObservedError {
  const details = Array.isArray(raw["data"]) ? raw["data"] : [];
  return assemble(raw, { httpStatus, code: numberOf(raw["code"]), message: textOf(raw["message"]), details });
}

/** Decodes the status of a gRPC call. */
export function seeGrpcError(
  raw: { readonly status: string; readonly message: string; readonly details: readonly JsonObject[] },
  httpStatus: number,
): ObservedError {
  const { status, message, details } = raw;
  return assemble(raw, { httpStatus, grpc: status, message, details });
}

/** A REST error in any of its three published formats, or in none. */
export function seeRestError(body: unknown, httpStatus: number): ObservedError {
  const outer = isObject(body) ? body : {};
  const inner = isObject(outer["error"]) ? outer["error"] : outer;
  const details = Array.isArray(inner["details"]) ? inner["details"] : [];
  const message = textOf(inner["message"]) || textOf(inner["detail"]) || textOf(inner["title"]);
  const code = numberOf(inner["code"]);
  const observed = assemble(body, { httpStatus, code: code !== undefined && code < 0 ? code : undefined, message, details });
  const type = textOf(outer["type"]);
  if (observed.reason !== undefined || !type.startsWith(PROBLEM_PREFIX)) return observed;
  return { ...observed, reason: type.slice(PROBLEM_PREFIX.length).toUpperCase().replaceAll("-", "_") };
}

function assemble(
  raw: unknown,
  parts: Pick<ObservedError, "httpStatus" | "message" | "details"> & Partial<Pick<ObservedError, "code" | "grpc">>,
): ObservedError {
  const infos = parts.details.filter(isObject).filter((detail) => detail["@type"] === ERROR_INFO);
  const info = infos.find(({ domain }) => domain === ERROR_DOMAIN) ?? infos[0];
  const observed = { code: undefined, grpc: undefined, ...parts };
  return { ...observed, reason: textOf(info?.["reason"]) || undefined, domain: textOf(info?.["domain"]) || undefined, raw };
}

/** Whether it is this error: by reason if present, else by the code or status of the binding. */
export function isError(error: ObservedError, name: ErrorName): boolean {
  const row: ErrorRow = ERROR_ROWS[name];
  if (error.grpc !== undefined)
    return row.grpc.includes(error.grpc) && (error.reason === undefined || !row.own || error.reason === name);
  if (error.code !== undefined)
    return error.code === row.code && (error.reason === undefined || !row.own || error.reason === name);
  if (row.own && error.reason !== undefined) return error.reason === name && row.http.includes(error.httpStatus);
  return row.http.includes(error.httpStatus);
}

/** A server error. */
export function blamesItself({ grpc, httpStatus, code }: ObservedError): boolean {
  return httpStatus >= 500 || code === INTERNAL_ERROR || (grpc !== undefined && GRPC_FAULTS.has(grpc));
}

/** The rejection of missing or insufficient credentials. */
export function wantsCredentials({ grpc, httpStatus }: ObservedError): boolean {
  return [401, 403].includes(httpStatus) || grpc === "UNAUTHENTICATED" || grpc === "PERMISSION_DENIED";
}

/** The result; fails the check with the error. */
export function resultOf({ error, result }: { readonly error: Maybe<ObservedError>; readonly result: unknown }): unknown {
  demand(error === undefined, `rejected: ${error === undefined ? "" : showError(error)}`);
  return result;
}

/** Requires one of the named errors. */
export function demandError(error: Maybe<ObservedError>, names: readonly ErrorName[], got: unknown): ObservedError {
  demand(error !== undefined, `expected ${names.join(" or ")}, got the result ${show(got)}`);
  demand(
    names.some((name) => isError(error, name)),
    `expected ${names.join(" or ")}, got ${showError(error)}`,
  );
  return error;
}

export function showError(error: ObservedError): string {
  const code = error.code === undefined ? "" : `, code ${error.code}`;
  const grpc = error.grpc === undefined ? "" : `, ${error.grpc}`;
  return `HTTP ${error.httpStatus}${code}${grpc}, reason ${error.reason ?? "none"}: ${show(error.message)}`;
}

/** Whether the error names the invalid member, in its message or details, in either spelling. */
export function namesField(error: ObservedError, field: string): boolean {
  const text = `${error.message} ${JSON.stringify(error.details)} ${JSON.stringify(error.raw)}`.toLowerCase();
  const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return text.includes(field.toLowerCase()) || text.includes(snake);
}

const numberOf = (value: unknown): Maybe<number> => (typeof value === "number" ? value : undefined);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
