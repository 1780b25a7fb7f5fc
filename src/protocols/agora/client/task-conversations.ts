import { isTerminal, type Maybe, RecentMap } from "../../../envelope/index.js";
import { stateOf } from "../codec.js";
import type { ClientDocument } from "./documents.js";
import type { ReceivedReply } from "./post.js";

/** Limit of tasks whose conversations are remembered. */
const TASKS = 10_000;

/** The conversation of a task. */
export interface TaskConversation {
  readonly conversationId: string;
  /** The document that the conversation follows. */
  readonly document: Maybe<ClientDocument>;
}

/** The conversations of unfinished tasks. Messages to a task belong there, whatever session they come from. */
export class TaskConversations {
  readonly #conversations = new RecentMap<TaskConversation>(TASKS);

  of(owner: string, taskId: Maybe<string>): Maybe<TaskConversation> {
    return taskId === undefined ? undefined : this.#conversations.get(keyOf(owner, taskId));
  }

  /** Records or forgets a conversation by the task of a reply. */
  note(owner: string, { reply }: ReceivedReply, conversation: TaskConversation): void {
    const taskState = stateOf(reply.metadata.receipt);
    if (taskState === undefined) return;
    if (isTerminal(taskState.state)) this.forget(owner, taskState.id);
    else this.#conversations.set(keyOf(owner, taskState.id), conversation);
  }

  forget(owner: string, taskId: string): void {
    this.#conversations.delete(keyOf(owner, taskId));
  }
}

/** The length prefix makes the key unambiguous. */
function keyOf(owner: string, taskId: string): string {
  return `${owner.length}:${owner}${taskId}`;
}
