/** The message model, which every protocol is translated to and from. Has no dependencies. */
export { answerOf, answerText, artifactText } from "./answer.js";
export { ARTIFACT_MEMBER, artifactRefsOf, withReferredParts } from "./artifact-refs.js";
export { decodeBase64, encodeBase64 } from "./base64.js";
export {
  ANONYMOUS,
  type AuthoredRequest,
  asProbe,
  authoredRequests,
  CallSlot,
  type CallStart,
  healthChecks,
  ownerOf,
  PROBE_PARAMETER,
  type Probe,
  receivedProbes,
  requestOf,
  SELF,
  startCall,
  subjectOf,
} from "./call.js";
export { CallerCredential } from "./caller-credential.js";
export { type Cancel, CancelSource, cancelFrom, signalOf } from "./cancel.js";
export type { Capabilities, Card, Extension, Interface, Security, Skill } from "./card.js";
export { type ContentSeal, type ContentSubject, type OpenContentSeal, SEAL_KEY, SEALED_TEXT } from "./content-seal.js";
export { Counts } from "./counts.js";
export { type Context, type Envelope, NO_CONTEXT, NO_META, type Proof } from "./envelope.js";
export { AgentError, ERRORS, type ErrorCode, type ErrorFace, type ErrorFacts, isErrorCode } from "./error.js";
export { type AgentEvent, ANSWERS, type EventKind, type EventOf, isClosing, withCursor } from "./event.js";
export {
  ARRIVED_OVER_TLS,
  type Floor,
  firstMissing,
  floorName,
  floorNamed,
  floorOf,
  isEncryptedByArrival,
  missingFrom,
  NO_FLOOR,
  REQUIREMENTS,
  type Requirement,
  raiseFloor,
} from "./floor.js";
export { floorRefusal } from "./floor-refusal.js";
export { type TaskEvent, TaskFold } from "./fold.js";
export {
  type Admitted,
  type Call,
  type CallChange,
  type Handler,
  isPromise,
  type Layer,
  type Loss,
  type LossSink,
  type Principal,
  type Reply,
  type Via,
} from "./handler.js";
export { type Head, NO_HEAD } from "./head.js";
export { type IdSource, systemIds, uuidText } from "./ids.js";
export { type Awaitable, isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
export { mapEach } from "./map-each.js";
export { type EnvelopeStart, newEnvelope } from "./new-envelope.js";
export { isSafe, type Operation, type OperationKind, type OperationOf } from "./operation.js";
export { type Content, dataPart, type Part, partsOf, textOf, textPart } from "./part.js";
export { partBytes, partContent } from "./part-bytes.js";
export { hasProtected, isProtected, isSealed, protectionOf, SEALED_TYPE } from "./protection.js";
export { RecentMap } from "./recent-map.js";
export { type KeptRecord, type Records, recordsBelow } from "./records.js";
export type { ReplayGuard, ReplayLimits } from "./replay-guard.js";
export { requestDigest } from "./request-digest.js";
export { Slots, type Slotted } from "./slots.js";
export { type ReadyIterator, type ReadyWaiter, TAKE_READY, WHEN_READY } from "./take-ready.js";
export {
  type Artifact,
  type Cursor,
  type Failure,
  isInterrupted,
  isTerminal,
  type PushConfig,
  type PushDelivery,
  type State,
  type Status,
  type Task,
} from "./task.js";
export { formatTraceparent, parseTraceparent, sameTrace, type TraceParent, traceIdHex } from "./trace.js";
export { formatUte, INLINE_CONTENT_BYTES, parseUte, readUte, type WriteUteOptions, writeUte } from "./ute.js";
export { MAX_LISTED_PARTS, PARTS_MEMBER } from "./ute-content.js";
export { isVersionNumber, versionProblem } from "./version-range.js";
