import type { Call, Event, Maybe, Operation } from "../envelope/index.js";

/** One direction between two agents over one protocol: the three labels of every metric, and nothing else. */
export interface Edge {
  readonly srcAgent: string;
  readonly dstId: string;
  readonly protocol: string;
}

/** What stands in a label for every name that may not be there, or that came after the last free place. */
export const OTHER = "other";

const TRACE_ID_AT = 3;
const TRACE_ID_END = 35;

/** The trace id of a `traceparent` value (W3C Trace Context §3.2.2: version, dash, 32 digits). */
export function traceIdIn(traceparent: Maybe<string>): Maybe<string> {
  return traceparent === undefined || traceparent.length < TRACE_ID_END
    ? undefined
    : traceparent.slice(TRACE_ID_AT, TRACE_ID_END);
}

/** What correlates all that is said about one call: the trace it continues, else the one its message names. */
export function traceIdOf(operation: Operation, call: Call): Maybe<string> {
  return (
    traceIdIn(call.parameters["traceparent"]) ?? (operation.kind === "send" ? operation.envelope.context.traceId : undefined)
  );
}

/** How often this message was sent before. */
export function retriesOf(operation: Operation): number {
  return operation.kind === "send" ? (operation.envelope.meta.retryCount ?? 0) : 0;
}

/** The state of the task an event speaks of, where it speaks of one. */
export function stateIn(event: Maybe<Event>): Maybe<string> {
  if (event?.kind === "task") return event.task.status.state;
  return event?.kind === "status" ? event.status.state : undefined;
}
