import {
  type Call,
  type Envelope,
  type JsonObject,
  type Maybe,
  NO_CONTEXT,
  type Operation,
  type ReadyIterator,
} from "../../../envelope/index.js";
import { addCallHeaders } from "../../../transport/call-headers.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import type { Limits } from "../../../transport/limits.js";
import type { StreamItem } from "../../../transport/peer-events.js";
import type { Peer } from "../../protocol.js";
import { IDEMPOTENT_SEND_URI, PUSH_DELIVERY_URI, RESUME_URI } from "../koine-extensions.js";
import type { OperationName } from "../operations.js";

/** An encoded operation, ready to be sent. */
export interface Outgoing {
  readonly peer: Peer;
  readonly operation: Operation;
  readonly call: Call;
  readonly streaming: boolean;
  readonly limits: Limits;
  readonly name: OperationName;
  readonly params: JsonObject;
  /** The params as JSON text, where that was written at once; `params` are empty then. */
  readonly text: Maybe<string>;
  /** A new id, for bindings with request ids. */
  readonly id: string;
  /** The remaining time of the call, for bindings that transmit it. */
  readonly timeoutMs: Maybe<number>;
}

/** Writes operations as requests and reads responses in one binding. */
export interface ClientBinding {
  readonly name: "JSONRPC" | "HTTP+JSON" | "GRPC";
  write(outgoing: Outgoing): HttpRequest;
  /** The result of a unary response, or a promise of it. Throws the error of the peer. */
  readResult(response: HttpResponse, outgoing: Outgoing): unknown;
  /** The item of one stream event. Throws the error of the peer. */
  readonly readItem: (data: unknown, outgoing: Outgoing) => unknown;
  /** The items of a stream that is not server-sent events. Throws the error of the peer. */
  readItems?(response: HttpResponse, outgoing: Outgoing): ReadyIterator<StreamItem>;
}

const NO_MESSAGE: Pick<Envelope, "extensions" | "context"> = Object.freeze({ extensions: undefined, context: NO_CONTEXT });

/** The headers of requests with JSON responses. */
export function commonHeaders(outgoing: Outgoing): Record<string, string> {
  const accept = outgoing.streaming ? "text/event-stream, application/json" : "application/json";
  return { accept, ...callHeaders(outgoing) };
}

/** The headers of every request: version, extensions, trace and stream cursor. */
export function callHeaders({ peer, operation, call }: Outgoing): Record<string, string> {
  const headers: Record<string, string> = {};
  if (peer.version !== "0.3") headers["a2a-version"] = peer.version;
  addCallHeaders(headers, call);
  const wanted = wantedBy(operation, peer, call.parameters["extensions"]);
  if (wanted !== "") headers[peer.version === "0.3" ? "x-a2a-extensions" : "a2a-extensions"] = wanted;
  if ((operation.kind === "task.subscribe" || operation.kind === "send") && operation.after !== undefined)
    headers["last-event-id"] = operation.after;
  if (operation.kind === "send" && operation.envelope.context.idempotencyKey !== undefined) {
    headers["idempotency-key"] = operation.envelope.context.idempotencyKey;
  }
  return headers;
}

/** The extensions requested by the caller or its message, and the Koine extensions that are used and supported by the peer. */
function wantedBy(operation: Operation, { card: { capabilities } }: Peer, named: Maybe<string>): string {
  const { extensions, context } = operation.kind === "send" ? operation.envelope : NO_MESSAGE;
  const ours: string[] = [];
  if (capabilities.resume && isStreaming(operation)) ours.push(RESUME_URI);
  if (capabilities.idempotentSend && context.idempotencyKey !== undefined) ours.push(IDEMPOTENT_SEND_URI);
  if (capabilities.pushDelivery === true && (operation.kind === "push.get" || operation.kind === "push.list"))
    ours.push(PUSH_DELIVERY_URI);
  const theirs = named ?? extensions?.join(", ") ?? "";
  const missing = ours.filter((uri) => !theirs.includes(uri));
  return theirs === "" ? missing.join(", ") : [theirs, ...missing].join(", ");
}

function isStreaming(operation: Operation): boolean {
  return operation.kind === "send" ? operation.delivery === "stream" : operation.kind === "task.subscribe";
}
