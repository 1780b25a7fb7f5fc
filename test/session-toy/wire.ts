import type { Json, JsonObject, Maybe } from "../../src/envelope/index.js";
import { bytesOf } from "../../src/transport/body.js";
import type { Chunk } from "../../src/transport/exchange.js";
import { DecodeProblem, optional, readInteger, readObject, readText } from "../../src/transport/fields.js";
import { type JsonLimits, readJson } from "../../src/transport/json.js";

/**
 * Session toy 1: JSON text messages on a WebSocket at `/session-toy`, subprotocol `session-toy.1`. Any number of calls run in one
 * session.
 *
 *   client   { id, op, agent?, hops?, trace?, args? }   starts a call; ids are the client's, unique among its running calls
 *            { cancel: id }                             the caller no longer wants the answer; the call is answered all the same
 *            { hello: did }                             names the client, before anything else, where the server asks for it
 *   server   { id, event }                              one of several events
 *            { id, end: event | null }                  the only or no further event: the call has ended
 *            { id, error: { code, message } }           the call has ended
 *            { error: { code, message } }               a message was refused that belongs to no call
 *            { hello: owner }                           the client is known as this owner
 *   both     { say: message }                           starts a message; it has no answer
 */
export const PATH = "/session-toy";
export const SUBPROTOCOL = "session-toy.1";
export const VIA = { protocol: "session-toy", version: "1", binding: "WS" } as const;

/** RFC 6455 §7.4.1. */
export const CLOSE = { normal: 1000, goingAway: 1001, protocolError: 1002, refused: 1008, tryLater: 1013 } as const;

/** The operations of a call. */
export const OPS = ["send", "task.get", "task.list", "task.cancel", "task.subscribe", "card", "ping"] as const;
export type Op = (typeof OPS)[number];

export type WirePart = { readonly text: string } | { readonly data: Json };

/** The W3C trace context of a call. */
export interface WireTrace {
  readonly traceparent: string;
  readonly tracestate: Maybe<string>;
}

export interface WireRequest {
  readonly id: string;
  /** One of `OPS`, or one that this version does not know. */
  readonly op: string;
  readonly agent: Maybe<string>;
  readonly hops: number;
  readonly trace: Maybe<WireTrace>;
  readonly args: JsonObject;
}

export type WireError = {
  readonly code: string;
  readonly message: string;
  readonly field: Maybe<string>;
  readonly retryMs: Maybe<number>;
};

/** A message of the client. */
export type ClientMessage =
  | { readonly kind: "call"; readonly request: WireRequest }
  | { readonly kind: "cancel"; readonly id: string }
  | { readonly kind: "hello"; readonly did: string }
  | { readonly kind: "say"; readonly message: JsonObject };

/** A message of the server. */
export type ServerMessage =
  | { readonly kind: "event"; readonly id: string; readonly event: JsonObject }
  | { readonly kind: "end"; readonly id: string; readonly event: Maybe<JsonObject> }
  | { readonly kind: "error"; readonly id: Maybe<string>; readonly error: WireError }
  | { readonly kind: "hello"; readonly owner: string }
  | { readonly kind: "say"; readonly message: JsonObject };

/** The JSON object of a message. Binary messages are refused: this version has no use for them. */
function readFrame(frame: Chunk, limits: JsonLimits): JsonObject {
  if (typeof frame !== "string") throw new DecodeProblem("", "binary messages are not supported", "unsupported_content");
  return readObject(readJson(bytesOf(frame), limits), "message");
}

export function readClientMessage(frame: Chunk, limits: JsonLimits): ClientMessage {
  const wire = readFrame(frame, limits);
  if (wire["cancel"] !== undefined) return { kind: "cancel", id: readText(wire["cancel"], "cancel") };
  if (wire["hello"] !== undefined) return { kind: "hello", did: readText(wire["hello"], "hello") };
  if (wire["say"] !== undefined) return { kind: "say", message: readObject(wire["say"], "say") };
  const request: WireRequest = {
    id: readText(wire["id"], "id"),
    op: readText(wire["op"], "op"),
    agent: optional(wire["agent"], "agent", readText),
    hops: optional(wire["hops"], "hops", readCount) ?? 0,
    trace: optional(wire["trace"], "trace", readTrace),
    args: optional(wire["args"], "args", readObject) ?? {},
  };
  return { kind: "call", request };
}

export function readServerMessage(frame: Chunk, limits: JsonLimits): ServerMessage {
  const wire = readFrame(frame, limits);
  if (wire["say"] !== undefined) return { kind: "say", message: readObject(wire["say"], "say") };
  if (wire["hello"] !== undefined) return { kind: "hello", owner: readText(wire["hello"], "hello") };
  const id = optional(wire["id"], "id", readText);
  if (wire["error"] !== undefined) return { kind: "error", id, error: readError(wire["error"]) };
  if (id === undefined) throw new DecodeProblem("id", "is missing; a string is expected");
  if (wire["event"] !== undefined) return { kind: "event", id, event: readObject(wire["event"], "event") };
  if (wire["end"] !== undefined) return { kind: "end", id, event: optional(wire["end"], "end", readObject) };
  throw new DecodeProblem("message", "has neither event, end nor error");
}

function readTrace(value: unknown, path: string): WireTrace {
  const trace = readObject(value, path);
  return {
    traceparent: readText(trace["traceparent"], `${path}.traceparent`),
    tracestate: optional(trace["tracestate"], `${path}.tracestate`, readText),
  };
}

function readError(value: unknown): WireError {
  const error = readObject(value, "error");
  return {
    code: readText(error["code"], "error.code"),
    message: readText(error["message"], "error.message"),
    field: optional(error["field"], "error.field", readText),
    retryMs: optional(error["retryMs"], "error.retryMs", readCount),
  };
}

export function readCount(value: unknown, path: string): number {
  const count = readInteger(value, path);
  if (count < 0) throw new DecodeProblem(path, "must not be negative");
  return count;
}
