import {
  type Cursor,
  type Floor,
  floorName,
  floorNamed,
  isObject,
  type Json,
  type JsonObject,
  type Maybe,
} from "../envelope/index.js";

/** What is stored with a task that runs at the upstream: enough for any process to find it again. */
export interface AdoptedState {
  /** The turn this was stored in: a turn that has started is continued, not sent again. */
  readonly turn: number;
  readonly taskId: string;
  readonly contextId: Maybe<string>;
  /** When the message was sent, in milliseconds since the epoch. */
  readonly since: Maybe<number>;
  /** The cursor after the last stored event. */
  readonly cursor: Maybe<Cursor>;
  /** What the call that started it required of every further hop. */
  readonly floor: Maybe<Floor>;
  /** The caller's credential, encrypted, where it is forwarded. */
  readonly credential: Maybe<string>;
}

export function writeState({ turn, taskId, contextId, since, cursor, floor, credential }: AdoptedState): JsonObject {
  return { turn, task: taskId, context: contextId, since, cursor, floor: floor && floorName(floor), credential };
}

/** Undefined for anything else: then the upstream task is unknown. */
export function readState(saved: Maybe<Json>): Maybe<AdoptedState> {
  if (!isObject(saved)) return undefined;
  const { turn, task, context, since, cursor, floor, credential } = saved;
  if (typeof turn !== "number" || typeof task !== "string") return undefined;
  return {
    turn,
    taskId: task,
    contextId: typeof context === "string" ? context : undefined,
    since: typeof since === "number" ? since : undefined,
    cursor: typeof cursor === "string" ? (cursor as Cursor) : undefined, // a cursor is opaque
    floor: typeof floor === "string" ? floorNamed(floor) : undefined,
    credential: typeof credential === "string" ? credential : undefined,
  };
}
