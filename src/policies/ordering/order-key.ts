import { type Call, type Envelope, type Maybe, type Operation, type OperationOf, traceIdHex } from "../../envelope/index.js";

/** The ordering key: session or trace. */
export type OrderedBy = "session" | "trace";

/** New messages are ordered. A message that names a task may be what an earlier one waits for, so it is never queued. */
export function isOrdered(operation: Operation): operation is OperationOf<"send"> {
  return operation.kind === "send" && operation.after === undefined && operation.envelope.context.taskId === undefined;
}

/** The queue of a message; undefined if it is unordered. Callers never share a queue. */
export function orderKey(by: OrderedBy, { context }: Envelope, { caller, agent }: Call): Maybe<string> {
  const id = by === "session" ? context.sessionId : (traceIdHex(context.traceId) ?? context.traceId);
  return id === undefined ? undefined : JSON.stringify([caller.owner, agent, id]);
}
