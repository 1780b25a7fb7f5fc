import {
  type Call,
  type Envelope,
  formatTraceparent,
  type Layer,
  type Maybe,
  parseTraceparent,
  traceIdHex,
} from "../envelope/index.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/**
 * The `traceparent` of an outgoing message: the one its call continues, or else one derived from the trace id of its envelope.
 * Deterministic: the same message always gets the same span id.
 */
export function outgoingTraceparent(envelope: Maybe<Envelope>, call: Call): Maybe<string> {
  const carried = call.parameters["traceparent"];
  if (carried !== undefined && parseTraceparent(carried) !== undefined) return carried;
  const traceId = traceIdHex(envelope?.context.traceId);
  if (envelope === undefined || traceId === undefined || /^0+$/.test(traceId)) return undefined;
  return formatTraceparent({ traceId, spanId: spanIdOf(envelope.id), sampled: true });
}

/** Sets the outgoing `traceparent` as a call parameter, for processes without a tracer. */
export const carryTrace: Layer = (next) => (operation, call) => {
  if (operation.kind !== "send" || operation.envelope.context.traceId === undefined) return next(operation, call);
  const traceparent = outgoingTraceparent(operation.envelope, call);
  if (traceparent === undefined || traceparent === call.parameters["traceparent"]) return next(operation, call);
  return next(operation, call.derive({ parameters: { ...call.parameters, traceparent } }));
};

/** Eight bytes of hex from a message id: the random half of a UUID, or the 64-bit FNV-1a hash of any other text. */
export function spanIdOf(messageId: string): string {
  const spanId = UUID.test(messageId) ? messageId.slice(19).replace("-", "").toLowerCase() : fnv1a(messageId);
  // W3C Trace Context §3.2.2.4: all zeros is invalid.
  return /^0+$/.test(spanId) ? "0000000000000001" : spanId;
}

function fnv1a(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  return hash.toString(16).padStart(16, "0");
}
