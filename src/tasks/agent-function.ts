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

/** What an agent may say about an artifact beside its content. */
export interface ArtifactOptions {
  /** A fresh one unless told; with `append`, the artifact yielded last. */
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
    /** Of an artifact: its id is settled by whoever made this. */
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

/** An event of a task that runs elsewhere. */
export type ElsewhereEvent = Extract<AgentEvent, { readonly kind: "status" | "artifact" }>;

/**
 * What happened to a task that really runs elsewhere: written down as it is, only its ids become those of the task here.
 * Yielded, it goes on; returned, its last event must be one that ends the turn.
 */
export class Relayed {
  constructor(
    readonly events: readonly ElsewhereEvent[],
    /** Kept with the task in the same step as the events. */
    readonly state: Maybe<Json>,
  ) {}
}

/** A message that somebody else has answered with: it goes on as it is. */
export class RelayedMessage {
  constructor(
    readonly message: Envelope,
    readonly head: Maybe<Head>,
  ) {}
}

/** What an agent knows about the call it answers, and what it can do beside answering. */
export interface TaskContext {
  /** Undefined while the exchange has no task: a bare reply never gets one. */
  readonly id: Maybe<string>;
  readonly sessionId: string;
  /** Counts from 1; a question ends a turn and the answer begins the next. */
  readonly turn: number;
  /** What was said on this task before the message at hand. */
  readonly history: readonly Envelope[];
  /** The JSON value saved by an earlier turn. */
  readonly state: Json | undefined;
  /** Kept with the task when the turn ends; a turn that ends without a task keeps nothing. */
  save(state: Json): void;
  /** The work must stop: cancel, `ttlMs`, shutdown after the drain; for a bare reply also the caller hanging up. */
  readonly signal: AbortSignal;
  /** The same for those who need no platform signal; costs less. */
  readonly cancel: Cancel;
  /** The call that brought the message. Undefined for a message that waited for its turn, and after a restart. */
  readonly call: Maybe<Call>;
  /** What the caller waits for. */
  readonly delivery: OperationOf<"send">["delivery"];
  /** This turn was begun before, by a process that is gone; `state` is what it kept last. */
  readonly restarted: boolean;
  /** Who calls, by the name admission gave. */
  readonly caller: string;
  /** Whose the task is: tenant, scheme and subject of the caller as one string. */
  readonly owner: string;
  readonly outputModes: readonly string[];
  /** The extension URIs that are active for this call. */
  readonly extensions: readonly string[];
  working(message?: Content, metadata?: Metadata): Progress;
  artifact(content: Content, options?: ArtifactOptions): Progress;
  /** Ends the turn: `return task.ask("which city?")`. The next message on the task calls the function again. */
  ask(question: Content): Ending;
  askForAuthorization(question: Content): Ending;
  reject(reason: Content): Ending;
  fail(reason: Content): Ending;
  /** Ends the task with a status message, beside or instead of artifacts. */
  complete(message?: Content): Ending;
  /** What a URL part points to, through the guard, size and digest checked; other parts come back as they are. */
  fetch(part: Part): Promise<Part>;
  /** The task as it stands, everything yielded so far included. */
  snapshot(): Promise<Maybe<Task>>;
}

/** How a turn ends: with content, with an ending, or with nothing. */
export type Result = Content | Ending | Relayed | RelayedMessage | undefined | void;

/** An agent's work while it goes on. A yielded string is the next piece of the answer, so `yield token` streams text. */
export type AgentStream = AsyncGenerator<Progress | Relayed | string, Result, void>;

/** An agent: written once, reached over every protocol. */
export type AgentFunction = (message: IncomingMessage, task: TaskContext) => Promise<Result> | Result | AgentStream;

/** True for what an `async *` function hands back. */
export function isStream(output: unknown): output is AgentStream {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
