import type { AgentError, AgentEvent, Call, Envelope, Head, LossSink, Maybe, Operation, Via } from "../envelope/index.js";
import type { Chunk } from "../transport/exchange.js";

/** Names a call among the running calls of a session. */
export type CallId = string | number;

/** What a client reads in a session. Content is decoded on demand: only the call that it belongs to fails if it is invalid. */
export type CalleeMessage =
  | { readonly kind: "event"; readonly id: CallId; event(): AgentEvent }
  /** The call has ended, with its only event or after those before. */
  | { readonly kind: "end"; readonly id: CallId; readonly event: Maybe<() => AgentEvent> }
  /** The call has ended. Without an id: a message was refused that belongs to no call. */
  | { readonly kind: "error"; readonly id: Maybe<CallId>; readonly error: AgentError }
  /** The peer has the request and works on it. */
  | { readonly kind: "receipt"; readonly id: CallId }
  | { readonly kind: "pong" }
  | { readonly kind: "say"; message(): Envelope };

/** The messages of a client of a protocol with sessions. */
export interface CallerWire {
  /** The request of an operation. Throws, before anything is sent, for one that the protocol does not have. */
  request(operation: Operation, call: Call): (id: CallId) => Chunk;
  /** Undefined: the protocol cannot cancel. The caller no longer waits, and a late answer is dropped. */
  cancel(id: CallId): Maybe<Chunk>;
  /** Throws DecodeProblem or AgentError. */
  read(frame: Chunk): CalleeMessage;
  /** Asks whether the peer is still there. Absent: nobody asks. */
  readonly heartbeat?: Maybe<{ ping(): Chunk; readonly everyMs: number; readonly missed: number }>;
}

/** The request of a call. */
export interface SessionRequest {
  readonly id: CallId;
  /** Undefined: the first agent of the host. */
  readonly agent: Maybe<string>;
  readonly hops: number;
  readonly parameters: Maybe<Head>;
  operation(): Operation;
}

/** What a server reads in a session. */
export type CallerMessage =
  | { readonly kind: "request"; readonly request: SessionRequest }
  | { readonly kind: "cancel"; readonly id: CallId }
  | { readonly kind: "ping"; readonly answer: Chunk }
  | { readonly kind: "say"; message(): Envelope };

/** The messages of a server of a protocol with sessions. */
export interface CalleeWire {
  readonly via: Via;
  /** Throws DecodeProblem or AgentError. */
  read(frame: Chunk): CallerMessage;
  event(id: CallId, event: AgentEvent, reportLoss: LossSink): Chunk;
  /** Without an event the call ends after those that were sent before. */
  end(id: CallId, event: Maybe<AgentEvent>, reportLoss: LossSink): Chunk;
  error(id: Maybe<CallId>, error: AgentError): Chunk;
  say(envelope: Envelope, reportLoss: LossSink): Chunk;
  /** Tells the caller of long work that it has begun. Absent: nobody is told. */
  readonly receipt?: Maybe<{ of(id: CallId): Chunk; readonly afterMs: number }>;
}
