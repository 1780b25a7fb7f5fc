import type { Cancel, Content, Json, JsonObject, Maybe, Records } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";

/** A kind of task that comes up again and again; its messages have `id` as their intent. */
export interface SenderTask {
  readonly id: string;
  /** One sentence: what is wanted. */
  readonly description: string;
  /** JSON Schemas of what goes in and what comes out, for models and negotiations. */
  readonly input?: Maybe<JsonObject>;
  readonly output?: Maybe<JsonObject>;
}

/**
 * Code that does a task by a document, registered by whoever wrote it: nothing is ever generated here. `ask` sends a body to
 * the peer and gives the body of its reply; what is returned is the answer.
 */
export interface SenderRoutine {
  /** The id of the task. */
  readonly task: string;
  /** The exact text of the document. */
  readonly document: string;
  send(data: Json, ask: (body: string) => Promise<string>, cancel: Cancel): Content | Promise<Content>;
}

/** After how many times something changes. Each counter goes up before it is compared, and each is compared with `>`. */
export interface SenderThresholds {
  /** Tasks of one kind at one peer, after which known documents are looked through: 5, so with the sixth. */
  readonly protocol: number;
  /** The same, after which one is negotiated: 10, so with the eleventh. */
  readonly negotiation: number;
  /** Uses of a document, after which its routine takes over from the model: 5, so with the sixth. */
  readonly implementation: number;
}

/** The library's numbers. */
export const SENDER_THRESHOLDS: SenderThresholds = Object.freeze({ protocol: 5, negotiation: 10, implementation: 5 });

export interface SenderOptions {
  readonly tasks: readonly SenderTask[];
  readonly routines?: readonly SenderRoutine[];
  readonly thresholds?: Partial<SenderThresholds>;
  /** Writes messages and negotiates. Without one only routines and natural language are left, and routines are used at once. */
  readonly model?: LanguageModel;
  /** Where counters and agreements are kept. Default: in memory, the latest ten thousand. */
  readonly records?: Pick<Records, "get" | "put" | "delete" | "count">;
}
