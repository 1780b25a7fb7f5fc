import type { Artifact, Envelope, Json, JsonObject, Maybe, Metadata, Part, Task } from "../envelope/index.js";

/** The message as an agent reads it. */
export interface IncomingMessage extends Envelope {
  /** All text parts in order, one line each. */
  readonly text: string;
}

/** What an agent may hand back as content: text, parts, or a JSON object that becomes one data part. */
export type Content = string | readonly Part[] | JsonObject;

/** What an agent yields while it works. Made by the methods of `TaskContext`. */
export type Progress =
  | { readonly step: "working"; readonly message: Maybe<Content>; readonly metadata: Maybe<Metadata> }
  | { readonly step: "artifact"; readonly artifact: Artifact; readonly append: boolean; readonly last: boolean };

/** How a turn may end, beside plain content. Made by the methods of `TaskContext`. */
export type Ending =
  | { readonly end: "input-required" | "auth-required"; readonly question: Content }
  | { readonly end: "rejected" | "failed"; readonly reason: Content }
  | { readonly end: "completed"; readonly message: Maybe<Content> };

export interface TaskContext {
  /** Undefined while the exchange has no task: a bare reply never gets one. */
  readonly id: Maybe<string>;
  readonly sessionId: string;
  /** Counts from 1; a question ends a turn and the answer begins the next. */
  readonly turn: number;
  readonly history: readonly Envelope[];
  /** The JSON value saved by an earlier turn. */
  readonly state: Json | undefined;
  save(state: Json): void;
  /** The work must stop: cancel, `ttlMs`, shutdown after the drain; for a bare reply also the caller hanging up. */
  readonly signal: AbortSignal;
  readonly caller: string;
  readonly outputModes: readonly string[];
  /** The extension URIs that are active for this call. */
  readonly extensions: readonly string[];
  working(message?: Content, metadata?: Metadata): Progress;
  artifact(
    content: Content,
    options?: {
      readonly id?: string;
      readonly name?: string;
      readonly description?: string;
      readonly append?: boolean;
      readonly last?: boolean;
      readonly metadata?: Metadata;
    },
  ): Progress;
  /** Ends the turn: `return task.ask("which city?")`. The next message on the task calls the function again. */
  ask(question: Content): Ending;
  askForAuthorization(question: Content): Ending;
  reject(reason: Content): Ending;
  fail(reason: Content): Ending;
  /** Ends the task with a status message, beside or instead of artifacts. */
  complete(message?: Content): Ending;
  /** The task as it stands. */
  snapshot(): Promise<Maybe<Task>>;
}

export type Result = Content | Ending | undefined | void;

/** An agent: written once, reached over every protocol. */
export type AgentFunction = (
  message: IncomingMessage,
  task: TaskContext,
) => Promise<Result> | Result | AsyncGenerator<Progress | string, Result, void>;
