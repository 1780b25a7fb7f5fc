import type { AgentEvent, Card, Json, JsonObject, LossSink, Maybe, Operation } from "../../envelope/index.js";
import type { OperationName } from "./operations.js";

/** What a decoder may need beside the wire value. Codecs own no clock, no ids and no names. */
export interface DecodeFacts {
  /** Milliseconds since the epoch: the time of a message that carries none. */
  readonly now: number;
  /** Names for the two ends of the message where the wire has none. */
  readonly src: string;
  readonly dst: string;
  /** The message that is being answered: the parent of an answer that names none. */
  readonly parentId?: Maybe<string>;
  readonly partsPerMessage: number;
  readonly lose: LossSink;
}

/**
 * One version of A2A in one JSON form. 1.0 has one form for both bindings; 0.3 has two: the `kind` form on JSON-RPC and
 * ProtoJSON on REST. All methods are pure; decoders throw DecodeProblem, which names the field and blames nobody.
 */
export interface Dialect {
  readonly version: "1.0" | "0.3";

  /** Server side: the request as an operation. */
  decodeRequest(name: OperationName, params: unknown, facts: DecodeFacts): Operation;
  /** The tenant named in the params, where the version has tenants. */
  tenantOf(params: unknown): Maybe<string>;
  /** Server side: the answer of a one-event operation. `operation` decides what must be present. */
  encodeResult(operation: Operation, event: AgentEvent, lose: LossSink): Json;
  /** Server side: one event of a stream. */
  encodeStreamItem(event: AgentEvent, lose: LossSink): JsonObject;

  /** Client side: undefined where this version has no such operation. */
  encodeRequest(
    operation: Operation,
    tenant: Maybe<string>,
    lose: LossSink,
  ): Maybe<{ readonly name: OperationName; readonly params: JsonObject }>;
  decodeResult(operation: Operation, result: unknown, facts: DecodeFacts): AgentEvent;
  decodeStreamItem(item: unknown, facts: DecodeFacts): AgentEvent;

  encodeCard(card: Card): JsonObject;
  /** `bytes` are kept as the card's original. */
  decodeCard(document: unknown, bytes: Uint8Array): Card;
}
