import type { AgentEvent, Call, Card, Envelope, JsonObject, Maybe, Principal } from "../../../envelope/index.js";
import { isObject } from "../../../envelope/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import { DecodeProblem, readObject } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import type { RpcId } from "../../../transport/json-rpc.js";
import type { ClientContext, Host } from "../../protocol.js";
import type { CalleeMessage, CalleeWire, CallerMessage, CallerWire, CallId } from "../../session-wire.js";
import {
  type CallFacts,
  type DecodeFacts,
  decodeEvent,
  decodeMessage,
  encodeEvent,
  encodeMessage,
  encodeOperation,
  readCalleeMessage,
  readCallerMessage,
  readCallFacts,
  writeCallFacts,
  writeCancel,
  writeError,
  writeEvent,
  writeRequest,
  writeResult,
  writeSay,
} from "../codec.js";
import { errorFromRpc } from "../errors.js";
import { agentNamed, decodeFactsOf, operationFor } from "../server/methods.js";
import { PROTOCOL, VERSION } from "../wire.js";
import { joinBytes, returnBytes, splitBytes, type TakenBytes, takeBytes } from "./binary-parts.js";
import { HEARTBEAT, RECEIPT_MS } from "./profile.js";

/**
 * The messages inside the records: those of `codec/rpc-messages.ts`, and two notifications beside them.
 *
 *   client   { jsonrpc, method: "koine.heartbeat" }                 are you there?
 *   server   { jsonrpc, method: "koine.heartbeat" }                 yes
 *            { jsonrpc, method: "koine.receipt", params: { id }}    the call `id` has begun and takes longer
 */
const HEARTBEAT_METHOD = "koine.heartbeat";
const RECEIPT_METHOD = "koine.receipt";
const ALIVE = notification(HEARTBEAT_METHOD, undefined);

export const VIA = { protocol: PROTOCOL, version: VERSION, binding: "WS" } as const;

interface Parsed {
  readonly message: JsonObject;
  readonly taken: TakenBytes;
}

export interface CallTimes {
  readonly heartbeat: { readonly everyMs: number; readonly missed: number };
  readonly receiptMs: number;
}

export const CALL_TIMES: CallTimes = { heartbeat: HEARTBEAT, receiptMs: RECEIPT_MS };

export function callerWire(context: ClientContext, factsOf: (call: Maybe<Call>) => DecodeFacts, times: CallTimes): CallerWire {
  const { limits } = context;
  return {
    request(operation, call) {
      const { value, taken } = takeBytes(operation);
      const { method, params } = encodeOperation(value, (loss) => call.reportLoss(loss));
      const facts = writeCallFacts(callFactsOf(call));
      return (id) => joinBytes(writeRequest(id, method, { ...params, ...facts }), taken);
    },
    cancel: (id) => writeCancel(id),
    heartbeat: { ping: () => ALIVE, ...times.heartbeat },
    read(frame): CalleeMessage {
      const { message, taken } = parse(frame, limits);
      if (message["method"] === HEARTBEAT_METHOD) return { kind: "pong" };
      if (message["method"] === RECEIPT_METHOD) return { kind: "receipt", id: receiptId(message) };
      const read = readCalleeMessage(message);
      const facts = factsOf(undefined);
      if (read.kind === "error")
        return { kind: "error", id: read.id === undefined ? undefined : callId(read.id), error: errorFromRpc(read.error) };
      if (read.kind === "say") return { kind: "say", message: () => messageIn(read.message, facts, taken) };
      const { event } = read;
      const decode = event && ((): AgentEvent => returnBytes(decodeEvent(event, facts), taken));
      const id = callId(read.id);
      if (read.kind === "result") return { kind: "end", id, event: decode };
      if (decode === undefined) throw new DecodeProblem("params.event", "is missing");
      return { kind: "event", id, event: decode };
    },
  };
}

/** `agent`: the one that the address names. */
export function calleeWire(host: Host, caller: Principal, agent: Maybe<string>, times: CallTimes): CalleeWire {
  const facts = (card: Card): DecodeFacts => decodeFactsOf(host, caller, card);
  return {
    via: VIA,
    receipt: { of: (id) => notification(RECEIPT_METHOD, { id }), afterMs: times.receiptMs },
    read(frame): CallerMessage {
      const { message, taken } = parse(frame, host.limits);
      if (message["method"] === HEARTBEAT_METHOD && message["id"] === undefined) return { kind: "ping", answer: ALIVE };
      const read = readCallerMessage(message);
      if (read.kind === "cancel") return { kind: "cancel", id: callId(read.id) };
      if (read.kind === "say")
        return { kind: "say", message: () => messageIn(read.message, facts(agentNamed(host, agent)), taken) };
      const { id, method, params } = read;
      const { hops, traceparent, tracestate, ...named } = readCallFacts(params);
      const name = named.agent ?? agent;
      const request = {
        id: callId(id),
        agent: name,
        hops,
        parameters: traceparent === undefined ? undefined : { traceparent, ...(tracestate && { tracestate }) },
        operation: () => returnBytes(operationFor(method, params, facts(agentNamed(host, name))), taken),
      };
      return { kind: "request", request };
    },
    event: (id, event) => withBytes(event, (value) => writeEvent(id, encodeEvent(value))),
    end: (id, event) =>
      event === undefined ? writeResult(id, undefined) : withBytes(event, (value) => writeResult(id, encodeEvent(value))),
    error: (id, error) => writeError(id, error),
    say: (envelope) => withBytes({ kind: "message", message: envelope }, ({ message }) => writeSay(encodeMessage(message))),
  };
}

function withBytes<T extends AgentEvent>(event: T, write: (event: T) => string): Chunk {
  const { value, taken } = takeBytes(event);
  return joinBytes(write(value), taken);
}

function messageIn(message: JsonObject, facts: DecodeFacts, taken: TakenBytes): Envelope {
  return returnBytes({ kind: "message", message: decodeMessage(message, "message", facts) }, taken).message;
}

function parse(frame: Chunk, limits: Host["limits"]): Parsed {
  const { json, taken } = splitBytes(frame, limits.partsPerMessage);
  return { message: readObject(readJson(json, limits), "message"), taken };
}

function callFactsOf(call: Call): CallFacts {
  const { traceparent, tracestate } = call.parameters;
  return { agent: undefined, hops: call.hops, traceparent, tracestate };
}

function callId(id: RpcId): CallId {
  if (id !== null) return id;
  throw new DecodeProblem("id", "must be a string or a number");
}

function receiptId({ params }: JsonObject): CallId {
  const id = isObject(params) ? params["id"] : undefined;
  if (typeof id === "string" || typeof id === "number") return id;
  throw new DecodeProblem("params.id", "must be a string or a number");
}

function notification(method: string, params: Maybe<JsonObject>): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
