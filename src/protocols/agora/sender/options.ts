import type { Cancel, Content, Json, JsonObject, Maybe, Records } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";

/** A recurring kind of task. Its messages have `id` as their intent. */
export interface SenderTask {
  /** The intent of the task's messages. */
  readonly id: string;
  /** What is requested, in one sentence. */
  readonly description: string;
  /** JSON Schema of the request, for models and negotiations. */
  readonly input?: Maybe<JsonObject>;
  /** JSON Schema of the answer. */
  readonly output?: Maybe<JsonObject>;
}

/**
 * Registered code that does a task by a document; no code is generated. `ask` sends a body to the peer and returns the body of
 * its reply. The return value is the answer.
 */
export interface SenderRoutine {
  /** The id of the task. */
  readonly task: string;
  /** The exact text of the document. */
  readonly document: string;
  /** Performs the task; `ask` sends a body to the peer and returns the body of its reply. */
  send(data: Json, ask: (body: string) => Promise<string>, cancel: Cancel): Content | Promise<Content>;
}

/** Thresholds. A counter is incremented first and then compared with `>`. */
export interface SenderThresholds {
  /** Tasks of one kind at one peer before known documents are considered: 5, so from the sixth. */
  readonly protocol: number;
  /** Tasks of one kind at one peer before negotiation: 10, so from the eleventh. */
  readonly negotiation: number;
  /** Uses of a document before its routine replaces the model: 5, so from the sixth. */
  readonly implementation: number;
}

/** The defaults of the Python library. */
export const SENDER_THRESHOLDS: SenderThresholds = Object.freeze({ protocol: 5, negotiation: 10, implementation: 5 });

/** Options of the Agora sender. */
export interface SenderOptions {
  /** The tasks that messages may have, with their schemas. */
  readonly tasks: readonly SenderTask[];
  /** Routines for known protocol documents. Default: none. */
  readonly routines?: readonly SenderRoutine[];
  /** After how many messages protocols are used. Default: `SENDER_THRESHOLDS`. */
  readonly thresholds?: Partial<SenderThresholds>;
  /**
   * Writes messages and negotiates. Without one, only routines and natural language are available, and routines are used at once.
   */
  readonly model?: LanguageModel;
  /** Storage for counters and agreements. Default: the records of the connection (`ConnectOptions.records`). */
  readonly records?: Pick<Records, "get" | "put" | "delete" | "count">;
}

/** The options with the records to use. */
export type ResolvedSenderOptions = SenderOptions & Required<Pick<SenderOptions, "records">>;
