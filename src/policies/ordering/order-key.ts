import { type Call, type Envelope, type Maybe, type Operation, type OperationOf, traceIdHex } from "../../envelope/index.js";

/** What belongs together: the messages of one conversation, or of one trace. */
export type OrderedBy = "session" | "trace";

/** A new message of its own. One that names a task may be what an earlier one waits for, so it never stands behind it. */
export function isOrdered(operation: Operation): operation is OperationOf<"send"> {
  return operation.kind === "send" && operation.after === undefined && operation.envelope.context.taskId === undefined;
}

/** Which line a message stands in; undefined for one that belongs to none. Two callers never share a line. */
export function orderKey(by: OrderedBy, { context }: Envelope, { caller, agent }: Call): Maybe<string> {
  const id = by === "session" ? context.sessionId : (traceIdHex(context.traceId) ?? context.traceId);
  return id === undefined ? undefined : JSON.stringify([caller.owner, agent, id]);
}
