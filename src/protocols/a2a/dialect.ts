import type { AgentEvent, Card, Json, JsonObject, LossSink, Maybe, Operation, OperationOf } from "../../envelope/index.js";
import type { OperationName } from "./operations.js";

/** The inputs of a decoder other than the wire value. Codecs own no clock, no ids and no names. */
export interface DecodeFacts {
  /** Milliseconds since the epoch: the time of a message that carries none. */
  readonly now: number;
  /** Default sender and receiver of a message. */
  readonly src: string;
  readonly dst: string;
  /** The message that is answered: the parent of an answer that names none. */
  readonly parentId?: Maybe<string>;
  readonly partsPerMessage: number;
  /** The value is an answer, not a request: what only describes it and cannot be read is dropped and reported. */
  readonly answer?: Maybe<boolean>;
  readonly reportLoss: LossSink;
}

/**
 * One version of A2A in one JSON form. 1.0 has one form for both bindings; 0.3 has two: the `kind` form on JSON-RPC and ProtoJSON
 * on REST. All methods are pure. Decoders throw DecodeProblem, which names the field.
 */
export interface Dialect {
  readonly version: "1.0" | "0.3";

  /** Server side: the request as an operation. */
  decodeRequest(name: OperationName, params: unknown, facts: DecodeFacts): Operation;
  /** The tenant in the params, if the version has tenants. */
  tenantOf(params: unknown): Maybe<string>;
  /** Server side: the response of a unary operation. `operation` determines the required members. */
  encodeResult(operation: Operation, event: AgentEvent, reportLoss: LossSink): Json;
  /** Server side: one event of a stream. */
  encodeStreamItem(event: AgentEvent, reportLoss: LossSink): JsonObject;
  /** The same, and the response of a send, as JSON text, where a version has something faster than `JSON.stringify`. */
  writeEventText?(event: AgentEvent, reportLoss: LossSink): string;

  /** Client side: undefined if this version has no such operation. */
  encodeRequest(
    operation: Operation,
    tenant: Maybe<string>,
    reportLoss: LossSink,
  ): Maybe<{ readonly name: OperationName; readonly params: JsonObject }>;
  /** The params of a send as JSON text, without a tenant; undefined where there is nothing faster than `encodeRequest`. */
  writeSendText?(operation: OperationOf<"send">): Maybe<string>;
  decodeResult(operation: Operation, result: unknown, facts: DecodeFacts): AgentEvent;
  decodeStreamItem(item: unknown, facts: DecodeFacts): AgentEvent;

  encodeCard(card: Card): JsonObject;
  /** `bytes` are kept as the card's original. */
  decodeCard(document: unknown, bytes: Uint8Array): Card;
}
