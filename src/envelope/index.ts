/** ② The message: what every protocol is translated to and from. Imports nothing of ours. */
export { answerOf } from "./answer.js";
export { ANONYMOUS, type CallStart, ownerOf, SELF, startCall } from "./call.js";
export { type Cancel, CancelSource, cancelFrom, signalOf } from "./cancel.js";
export type { Capabilities, Card, Extension, Interface, Security, Skill } from "./card.js";
export { type Context, type Envelope, NO_CONTEXT, NO_META, type Proof } from "./envelope.js";
export { AgentError, ERRORS, type ErrorCode, type ErrorFace, type ErrorFacts } from "./error.js";
export { ANSWERS, type Cursor, type Event, type EventKind, type EventOf, type Head, isClosing, NO_HEAD } from "./event.js";
export { type TaskEvent, TaskFold } from "./fold.js";
export {
  type Call,
  type CallChange,
  type Floor,
  type Handler,
  isPromise,
  type Layer,
  NO_FLOOR,
  type Principal,
  type Reply,
  type Via,
} from "./handler.js";
export { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
export type { Loss, LossSink } from "./loss.js";
export { isSafe, type Operation, type OperationKind, type OperationOf } from "./operation.js";
export { dataPart, type Part, textOf, textPart } from "./part.js";
export {
  type Artifact,
  type Failure,
  isInterrupted,
  isTerminal,
  type PushConfig,
  type State,
  type Status,
  type Task,
} from "./task.js";
export { formatTraceparent, parseTraceparent, sameTrace, type TraceParent, traceIdHex } from "./trace.js";
