import type {
  AgentEvent,
  Call,
  Cancel,
  Content,
  Envelope,
  Head,
  Json,
  Maybe,
  Metadata,
  OperationOf,
  Part,
  Task,
} from "../envelope/index.js";

/** The message as an agent reads it. */
export interface IncomingMessage extends Envelope {
  /** All text parts in order, one line each. */
  readonly text: string;
}

/** Options of an artifact, besides its content. */
export interface ArtifactOptions {
  /** Default: a new id; with `append`, the id of the artifact yielded last. */
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly append?: boolean;
  readonly last?: boolean;
  readonly metadata?: Metadata;
}

/** What an agent yields while it works. A class, so that an agent's own JSON can never be mistaken for it. */
export class Progress {
  constructor(
    readonly step: "working" | "artifact",
    readonly content: Maybe<Content>,
    /** For an artifact, the id is already set. */
    readonly options: ArtifactOptions,
  ) {}
}

/** How a turn may end, beside plain content. A class, so that an agent's own JSON can never be mistaken for it. */
export class Ending {
  constructor(
    readonly state: "input-required" | "auth-required" | "rejected" | "failed" | "completed",
    readonly content: Maybe<Content>,
  ) {}
}

/** An event of a task that runs on an upstream. */
export type UpstreamEvent = Extract<AgentEvent, { readonly kind: "status" | "artifact" }>;

/**
 * Events of a task that runs on an upstream. They are journaled unchanged, except for the ids, which become those of this task.
 * If yielded, the turn continues; if returned, the last event must end the turn.
 */
export class Relayed {
  constructor(
    readonly events: readonly UpstreamEvent[],
    /** Stored with the task in the same step as the events. */
    readonly state: Maybe<Json>,
  ) {}
}

/** A message an upstream answered with, forwarded unchanged. */
export class RelayedMessage {
  constructor(
    readonly message: Envelope,
    readonly head: Maybe<Head>,
  ) {}
}

/** The call an agent function is answering, and the actions available to it. */
export interface TaskContext {
  /** Undefined while the exchange has no task; a bare reply never gets one. */
  readonly id: Maybe<string>;
  /** The conversation. */
  readonly sessionId: string;
  /** Starts at 1. A question ends a turn, and its answer begins the next one. */
  readonly turn: number;
  /** Earlier messages of this task, without the current one. */
  readonly history: readonly Envelope[];
  /** The JSON value saved by an earlier turn. */
  readonly state: Json | undefined;
  /** Stores a value with the task when the turn ends. Ignored if the turn ends without a task. */
  save(state: Json): void;
  /** Aborted on cancel, `ttlMs`, shutdown after the drain and, for a bare reply, when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Same as `signal`, cheaper than a platform signal. */
  readonly cancel: Cancel;
  /** The call that carried the message. Undefined for a queued message and after a restart. */
  readonly call: Maybe<Call>;
  /** What the caller waits for. */
  readonly delivery: OperationOf<"send">["delivery"];
  /** True if another process started this turn and stopped; `state` is the value it saved last. */
  readonly restarted: boolean;
  /** The caller's id, as set by admission. */
  readonly caller: string;
  /** The owner of the task: tenant, scheme and subject of the caller as one string. */
  readonly owner: string;
  /** The media types the caller accepts; empty for any. */
  readonly outputModes: readonly string[];
  /** The extension URIs that are active for this call. */
  readonly extensions: readonly string[];
  /** A progress update, to be yielded. */
  working(message?: Content, metadata?: Metadata): Progress;
  /** An artifact, or a chunk of one, to be yielded. */
  artifact(content: Content, options?: ArtifactOptions): Progress;
  /** Ends the turn: `return task.ask("which city?")`. The next message on the task calls the function again. */
  ask(question: Content): Ending;
  /** Ends the turn until the caller has authorized the work. */
  askForAuthorization(question: Content): Ending;
  /** Ends the task as rejected. */
  reject(reason: Content): Ending;
  /** Ends the task as failed. */
  fail(reason: Content): Ending;
  /** Ends the task with a status message, in addition to or instead of artifacts. */
  complete(message?: Content): Ending;
  /** Fetches the content of a URL part through the outbound guard and checks size and digest. Other parts are returned unchanged. */
  fetch(part: Part): Promise<Part>;
  /** Streams the content of a part, of any size, in chunks; a URL part as `fetch` fetches it. Throws if the digest differs. */
  read(part: Part): AsyncIterable<Uint8Array>;
  /** The current task, including everything yielded so far. */
  snapshot(): Promise<Maybe<Task>>;
}

/** The return value of an agent: content, an ending, or nothing. */
export type Result = Content | Ending | Relayed | RelayedMessage | undefined | void;

/** A streaming agent. A yielded string is the next chunk of the answer, so `yield token` streams text. */
export type AgentStream = AsyncGenerator<Progress | Relayed | string, Result, void>;

/** The stream of an exchange that became a task, and its first step. */
export interface StartedStream {
  readonly stream: AgentStream;
  readonly first: Progress | Relayed | string;
}

/** An agent: one function, served over every protocol. */
export type AgentFunction = (message: IncomingMessage, task: TaskContext) => Promise<Result> | Result | AgentStream;

/** True for the return value of an `async *` function. */
export function isStream(output: unknown): output is AgentStream {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
