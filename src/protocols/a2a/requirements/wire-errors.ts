import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { demand, show } from "../../duty.js";

/** An error as it was seen, whatever shape carried it. */
export interface SeenError {
  readonly httpStatus: number;
  /** The JSON-RPC code, where there is one. */
  readonly code: Maybe<number>;
  /** The name of the gRPC status, where there is one. */
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
  /** One of the nine of A2A; the generic ones have no reason of their own. */
  readonly own: boolean;
}

/** The gRPC status of three errors changed between the patch versions. */
const CHANGED = ["FAILED_PRECONDITION", "UNIMPLEMENTED"] as const;

/** A2A 1.0 §5.4, with the statuses of both patch versions: a peer cannot tell which one it talks to. */
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
export function seeRpcError(raw: JsonObject, httpStatus: number): SeenError {
  const details = Array.isArray(raw["data"]) ? raw["data"] : [];
  return assemble(raw, { httpStatus, code: numberOf(raw["code"]), message: textOf(raw["message"]), details });
}

/** What the status of a gRPC call says. */
export function seeGrpcError(
  raw: { readonly status: string; readonly message: string; readonly details: readonly JsonObject[] },
  httpStatus: number,
): SeenError {
  const { status, message, details } = raw;
  return assemble(raw, { httpStatus, grpc: status, message, details });
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

function assemble(
  raw: unknown,
  parts: Pick<SeenError, "httpStatus" | "message" | "details"> & Partial<Pick<SeenError, "code" | "grpc">>,
): SeenError {
  const infos = parts.details.filter(isObject).filter((detail) => detail["@type"] === ERROR_INFO);
  const info = infos.find(({ domain }) => domain === ERROR_DOMAIN) ?? infos[0];
  const seen = { code: undefined, grpc: undefined, ...parts };
  return { ...seen, reason: textOf(info?.["reason"]) || undefined, domain: textOf(info?.["domain"]) || undefined, raw };
}

/** Is it this error? By reason where one was sent, else by the binding's own code or status. */
export function isError(error: SeenError, name: ErrorName): boolean {
  const row: ErrorRow = ERROR_ROWS[name];
  if (error.grpc !== undefined)
    return row.grpc.includes(error.grpc) && (error.reason === undefined || !row.own || error.reason === name);
  if (error.code !== undefined)
    return error.code === row.code && (error.reason === undefined || !row.own || error.reason === name);
  if (row.own && error.reason !== undefined) return error.reason === name && row.http.includes(error.httpStatus);
  return row.http.includes(error.httpStatus);
}

/** The server says that it is at fault itself. */
export function blamesItself({ grpc, httpStatus, code }: SeenError): boolean {
  return httpStatus >= 500 || code === INTERNAL_ERROR || (grpc !== undefined && GRPC_FAULTS.has(grpc));
}

/** The refusal of a caller that showed no credentials, or too weak ones. */
export function wantsCredentials({ grpc, httpStatus }: SeenError): boolean {
  return [401, 403].includes(httpStatus) || grpc === "UNAUTHENTICATED" || grpc === "PERMISSION_DENIED";
}

/** The result, or the check fails with the error in words. */
export function resultOf({ error, result }: { readonly error: Maybe<SeenError>; readonly result: unknown }): unknown {
  demand(error === undefined, `refused: ${error === undefined ? "" : showError(error)}`);
  return result;
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
  const grpc = error.grpc === undefined ? "" : `, ${error.grpc}`;
  return `HTTP ${error.httpStatus}${code}${grpc}, reason ${error.reason ?? "none"}: ${show(error.message)}`;
}

/** Does the error say which member is wrong? In its words or in its details, in either spelling. */
export function namesField(error: SeenError, field: string): boolean {
  const said = `${error.message} ${JSON.stringify(error.details)} ${JSON.stringify(error.raw)}`.toLowerCase();
  const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return said.includes(field.toLowerCase()) || said.includes(snake);
}

const numberOf = (value: unknown): Maybe<number> => (typeof value === "number" ? value : undefined);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
