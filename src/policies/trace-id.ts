import type { Call, Maybe, Operation } from "../envelope/index.js";

const TRACE_ID_AT = 3;
const TRACE_ID_END = 35;

/** The trace id of a `traceparent` value (W3C Trace Context §3.2.2: version, dash, 32 digits). */
export function traceIdIn(traceparent: Maybe<string>): Maybe<string> {
  return traceparent === undefined || traceparent.length < TRACE_ID_END
    ? undefined
    : traceparent.slice(TRACE_ID_AT, TRACE_ID_END);
}

/** Correlates everything about one call: the trace it continues, else the one its message names. */
export function traceIdOf(operation: Operation, call: Call): Maybe<string> {
  return (
    traceIdIn(call.parameters["traceparent"]) ?? (operation.kind === "send" ? operation.envelope.context.traceId : undefined)
  );
}
