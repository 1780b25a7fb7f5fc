import { isTerminal, type Maybe, RecentMap } from "../../../envelope/index.js";
import { stateOf } from "../codec.js";
import type { SpokenDocument } from "./documents.js";
import type { Heard } from "./post.js";

/** Pieces of work whose conversations are remembered. */
const TASKS = 10_000;

/** Where a piece of work is talked about. */
export interface TaskPlace {
  readonly conversationId: string;
  /** What everything in the conversation follows. */
  readonly document: Maybe<SpokenDocument>;
}

/** The conversations of work that is not over: what is said to it belongs there, whatever session it comes from. */
export class TaskPlaces {
  readonly #places = new RecentMap<TaskPlace>(TASKS);

  of(owner: string, taskId: Maybe<string>): Maybe<TaskPlace> {
    return taskId === undefined ? undefined : this.#places.get(keyOf(owner, taskId));
  }

  /** What a reply out of a conversation tells about work. */
  note(owner: string, { reply }: Heard, place: TaskPlace): void {
    const told = stateOf(reply.metadata.receipt);
    if (told === undefined) return;
    if (isTerminal(told.state)) this.forget(owner, told.id);
    else this.#places.set(keyOf(owner, told.id), place);
  }

  forget(owner: string, taskId: string): void {
    this.#places.delete(keyOf(owner, taskId));
  }
}

/** The length keeps the two apart whatever characters they have. */
function keyOf(owner: string, taskId: string): string {
  return `${owner.length}:${owner}${taskId}`;
}
