import { type Cursor, isObject, type Json, type JsonObject, type Maybe } from "../envelope/index.js";

/** What is kept with a task that really runs elsewhere: enough to find it again, by whichever process. */
export interface AdoptedState {
  /** The turn this was learned in: one that has begun is gone on with, not said again. */
  readonly turn: number;
  readonly taskId: string;
  readonly contextId: Maybe<string>;
  /** Behind the last event that was written down. */
  readonly cursor: Maybe<Cursor>;
  /** The caller's own credential, sealed, where it goes along. */
  readonly credential: Maybe<string>;
}

export function writeState({ turn, taskId, contextId, cursor, credential }: AdoptedState): JsonObject {
  return { turn, task: taskId, context: contextId, cursor, credential };
}

/** Undefined for what is not ours: then nothing is known of the task elsewhere. */
export function readState(saved: Maybe<Json>): Maybe<AdoptedState> {
  if (!isObject(saved)) return undefined;
  const { turn, task, context, cursor, credential } = saved;
  if (typeof turn !== "number" || typeof task !== "string") return undefined;
  return {
    turn,
    taskId: task,
    contextId: typeof context === "string" ? context : undefined,
    cursor: typeof cursor === "string" ? (cursor as Cursor) : undefined, // a cursor is whatever its task gave us
    credential: typeof credential === "string" ? credential : undefined,
  };
}
