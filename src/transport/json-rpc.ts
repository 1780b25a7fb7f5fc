import { AgentError, isObject, type Json, type JsonObject, type Maybe } from "../envelope/index.js";
import type { HttpRequest } from "./exchange.js";
import { DecodeProblem, kindOf } from "./fields.js";
import { jsonString } from "./json-string.js";
import { DEFAULT_LIMITS } from "./limits.js";

/** JSON-RPC 2.0 §5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

const ID_CHARS = DEFAULT_LIMITS.idChars;

/** JSON-RPC 2.0 §4: a string, a number without fraction, or null. */
export type RpcId = string | number | null;

export interface RpcRequest {
  readonly kind: "request";
  /** Absent for a notification, which gets no response. */
  readonly id: Maybe<RpcId>;
  readonly method: string;
  readonly params: Maybe<JsonObject | readonly Json[]>;
}

/** An invalid request, ready to be answered under the id that could be read. */
export interface RpcFault {
  readonly kind: "fault";
  readonly id: RpcId;
  readonly code: number;
  readonly message: string;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Maybe<Json>;
}

/** A response has exactly one of the two. */
export type RpcAnswer = { readonly kind: "result"; readonly result: Json } | { readonly kind: "error"; readonly error: RpcError };

export interface RpcOptions {
  /** Accept requests without `id`; otherwise they are refused. */
  readonly notifications?: boolean;
}

/** The call in a request's body, or the fault to answer with. Never throws for invalid input. */
export function readRpcRequest(request: HttpRequest, options?: RpcOptions): RpcRequest | RpcFault {
  let value: unknown;
  try {
    value = request.json();
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code === "decode") return fault(null, PARSE_ERROR, error.message);
    if (error.code === "too_large") return fault(null, INVALID_REQUEST, error.message);
    throw error;
  }
  return parseRpcRequest(value, options);
}

/** Validates a parsed request. */
export function parseRpcRequest(value: unknown, options?: RpcOptions): RpcRequest | RpcFault {
  if (!isObject(value)) {
    if (Array.isArray(value)) return fault(null, INVALID_REQUEST, "a batch is not supported: send one request object");
    return fault(null, INVALID_REQUEST, `the request must be an object, not ${kindOf(value)}`);
  }
  const { id, method, params } = value;
  const answerTo = isRpcId(id) ? id : null;
  if (value["jsonrpc"] !== "2.0") return fault(answerTo, INVALID_REQUEST, 'jsonrpc must be "2.0"');
  if (id === undefined) {
    if (options?.notifications !== true) return fault(null, INVALID_REQUEST, "id is missing; notifications are not supported");
  } else if (!isRpcId(id)) {
    const problem = typeof id === "string" ? `has more than ${ID_CHARS} characters` : "must be a string, a whole number or null";
    return fault(null, INVALID_REQUEST, `id ${problem}`);
  }
  if (typeof method !== "string") {
    return fault(
      answerTo,
      INVALID_REQUEST,
      `method ${method === undefined ? "is missing" : `must be a string, not ${kindOf(method)}`}`,
    );
  }
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return fault(answerTo, INVALID_REQUEST, `params must be an object or an array, not ${kindOf(params)}`);
  }
  return { kind: "request", id, method, params };
}

/**
 * Numbers beyond 2^53 were changed when they were parsed, so they cannot be echoed exactly. A long text would be kept as long as the call
 * and repeated in every answer.
 */
function isRpcId(value: unknown): value is RpcId {
  return (
    (typeof value === "string" && value.length <= ID_CHARS) ||
    value === null ||
    (typeof value === "number" && Number.isSafeInteger(value))
  );
}

function fault(id: RpcId, code: number, message: string): RpcFault {
  return { kind: "fault", id, code, message };
}

export function encodeRpcRequest(id: RpcId, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** The same of params that are JSON text already. */
export function rpcRequestText(id: RpcId, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${jsonString(method)},"params":${params}}`;
}

/** An undefined result is written as null: the member is required. */
export function encodeRpcResult(id: RpcId, result: unknown): string {
  // One stringify call: concatenated strings would be flattened again when written.
  return JSON.stringify({ jsonrpc: "2.0", id, result: result ?? null });
}

/** What precedes the results of one request: a stream has the same before each. A result and a closing brace complete it. */
export function rpcResultStart(id: RpcId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

export function encodeRpcError(
  id: RpcId,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

/**
 * The response to the request with this id. Throws DecodeProblem; a null id is accepted only with an error, for a request the
 * peer could not parse. `returnsNothing`: the method has no result, and some peers omit the member.
 */
export function parseRpcResponse(value: unknown, id: RpcId, returnsNothing = false): RpcAnswer {
  if (!isObject(value)) throw new DecodeProblem("", `the JSON-RPC response must be an object, not ${kindOf(value)}`);
  if (value["jsonrpc"] !== "2.0") throw new DecodeProblem("jsonrpc", 'must be "2.0"');
  const { result, error } = value;
  if (value["id"] !== id && !(value["id"] === null && error !== undefined)) {
    throw new DecodeProblem("id", `is ${JSON.stringify(value["id"])}; the request had ${JSON.stringify(id)}`);
  }
  // Some peers write the absent member as null.
  if (error === undefined || (error === null && result !== undefined)) {
    if (result === undefined && returnsNothing) return { kind: "result", result: null };
    if (result === undefined) throw new DecodeProblem("", "the JSON-RPC response has neither result nor error");
    return { kind: "result", result };
  }
  if (result !== undefined && result !== null) throw new DecodeProblem("", "the JSON-RPC response has both result and error");
  return { kind: "error", error: readRpcError(error) };
}

function readRpcError(error: Json): RpcError {
  if (!isObject(error)) throw new DecodeProblem("error", `must be an object, not ${kindOf(error)}`);
  const { code, message, data } = error;
  if (typeof code !== "number" || !Number.isInteger(code))
    throw new DecodeProblem("error.code", `must be a whole number, not ${kindOf(code)}`);
  if (typeof message !== "string") throw new DecodeProblem("error.message", `must be a string, not ${kindOf(message)}`);
  return { code, message, data };
}
