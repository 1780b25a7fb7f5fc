import { type AgentError, isObject, type Json, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readText } from "../../../transport/fields.js";
import { parseRpcRequest, type RpcError, type RpcId } from "../../../transport/json-rpc.js";
import { rpcErrorOf } from "../errors.js";

/**
 * The messages of calls, the same in HTTP bodies, in server-sent events and in the records of a session. JSON-RPC 2.0:
 *
 *   request  { jsonrpc, id, method, params }                          starts a call
 *   event    { jsonrpc, method: "koine.event", params: { id, event }} one of several events of the call `id`
 *   result   { jsonrpc, id, result: event | null }                    the only event, or null: no further one. The call has ended
 *   error    { jsonrpc, id, error: { code, message, data } }          the call has ended; without an id: a message that cannot be read
 *   cancel   { jsonrpc, method: "koine.cancel", params: { id }}       the caller no longer wants the answer. The call is answered all
 *                                                                     the same. In HTTP it is the end of the request
 *   say      { jsonrpc, method: "koine.say", params: { message }}     starts a message that has no answer. Sessions only
 *
 * `params` of a request may have `agent` (sessions: which one is called), `hops` and `trace`, where HTTP has the path and headers.
 */
export const EVENT = "koine.event";
export const CANCEL = "koine.cancel";
export const SAY = "koine.say";

/** Carried in `params` where there are no headers. */
export interface CallFacts {
  readonly agent: Maybe<string>;
  readonly hops: number;
  readonly traceparent: Maybe<string>;
  readonly tracestate: Maybe<string>;
}

/** A message of the caller. */
export type CallerMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "cancel"; readonly id: RpcId }
  | { readonly kind: "say"; readonly message: JsonObject };

/** A message of the callee. */
export type CalleeMessage =
  | { readonly kind: "event"; readonly id: RpcId; readonly event: JsonObject }
  /** `event` undefined: there is no further one. */
  | { readonly kind: "result"; readonly id: RpcId; readonly event: Maybe<JsonObject> }
  /** `id` undefined: about a message that could not be read. */
  | { readonly kind: "error"; readonly id: Maybe<RpcId>; readonly error: RpcError }
  | { readonly kind: "say"; readonly message: JsonObject };

export function writeRequest(id: RpcId, method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

export function writeEvent(id: RpcId, event: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method: EVENT, params: { id, event } });
}

/** Without an event the call ends after those that were written before. */
export function writeResult(id: RpcId, event: Maybe<JsonObject>): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: event ?? null });
}

export function writeError(id: Maybe<RpcId>, error: AgentError): string {
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: rpcErrorOf(error) });
}

export function writeCancel(id: RpcId): string {
  return JSON.stringify({ jsonrpc: "2.0", method: CANCEL, params: { id } });
}

export function writeSay(message: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method: SAY, params: { message } });
}

/** Reads a parsed message of a caller. Throws DecodeProblem. */
export function readCallerMessage(value: unknown): CallerMessage {
  const read = parseRpcRequest(value, { notifications: true });
  if (read.kind === "fault") throw new DecodeProblem("", read.message);
  const { id, method } = read;
  const params = optional(read.params, "params", readObject) ?? {};
  if (id !== undefined) return { kind: "request", id, method, params };
  if (method === CANCEL) return { kind: "cancel", id: readRpcId(params["id"], "params.id") };
  if (method === SAY) return { kind: "say", message: readObject(params["message"], "params.message") };
  throw new DecodeProblem("id", "is missing: only a cancel and a message without an answer have none");
}

/** Reads a parsed message of a callee. Throws DecodeProblem. */
export function readCalleeMessage(value: unknown): CalleeMessage {
  const message = readObject(value, "");
  if (message["jsonrpc"] !== "2.0") throw new DecodeProblem("jsonrpc", 'must be "2.0"');
  const { method } = message;
  if (method === EVENT) {
    const params = readObject(message["params"], "params");
    return { kind: "event", id: readRpcId(params["id"], "params.id"), event: readObject(params["event"], "params.event") };
  }
  if (method === SAY)
    return { kind: "say", message: readObject(readObject(message["params"], "params")["message"], "params.message") };
  const { id, result, error } = message;
  if (isObject(error))
    return { kind: "error", id: id === undefined || id === null ? undefined : readRpcId(id, "id"), error: readRpcError(error) };
  if (result === undefined) throw new DecodeProblem("", "has neither result nor error");
  return { kind: "result", id: readRpcId(id, "id"), event: optional(result, "result", readObject) };
}

/** The facts of a call as members of `params`; absent ones are left out. */
export function writeCallFacts({ agent, hops, traceparent, tracestate }: CallFacts): JsonObject {
  return {
    agent,
    hops: hops === 0 ? undefined : hops,
    trace: traceparent === undefined ? undefined : { traceparent, tracestate },
  };
}

export function readCallFacts(params: JsonObject): CallFacts {
  const trace = optional(params["trace"], "params.trace", readObject);
  return {
    agent: optional(params["agent"], "params.agent", readText),
    hops: optional(params["hops"], "params.hops", readCount) ?? 0,
    traceparent: optional(trace?.["traceparent"], "params.trace.traceparent", readText),
    tracestate: optional(trace?.["tracestate"], "params.trace.tracestate", readText),
  };
}

/** A whole number from 0. */
export function readCount(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new DecodeProblem(path, "must be a whole number that is not negative");
}

function readRpcId(value: unknown, path: string): RpcId {
  if (typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value))) return value;
  throw new DecodeProblem(path, "must be a string or a whole number");
}

function readRpcError(error: JsonObject): RpcError {
  const { code, message, data } = error;
  const known: Maybe<Json> = data;
  if (typeof code !== "number" || !Number.isInteger(code)) throw new DecodeProblem("error.code", "must be a whole number");
  if (typeof message !== "string") throw new DecodeProblem("error.message", "must be a string");
  return { code, message, data: known };
}
