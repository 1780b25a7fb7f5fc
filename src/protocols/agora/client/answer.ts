import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  isTerminal,
  type Maybe,
  type State,
  type Status,
  type Task,
} from "../../../envelope/index.js";
import { blame } from "../../../transport/fields.js";
import { decodeReply, type ReadReply, readTask, stateOf } from "../codec.js";
import type { ReceivedReply, Wire } from "./post.js";

/** What a reply belongs to. */
export interface ReplyContext {
  readonly wire: Wire;
  readonly call: Call;
  /** The message that the reply answers, if there is one. */
  readonly envelope: Maybe<Envelope>;
}

/** The answer to a message: the task if the reply carries one, else a message. Throws the error of the peer. */
export function answerTo(received: ReceivedReply, context: ReplyContext): AgentEvent {
  const taskState = stateOf(received.reply.metadata.receipt);
  if (received.error !== undefined && (taskState === undefined || !isTerminal(taskState.state))) throw received.error;
  if (taskState !== undefined) return { kind: "task", task: taskIn(taskState, received, context) };
  return { kind: "message", message: messageIn(received.reply, context) };
}

/** The task of a receipt. Throws the peer's error, or `bad_peer` if the reply is about another task. */
export function taskAbout(taskId: string, received: ReceivedReply, context: ReplyContext): Task {
  const taskState = stateOf(received.reply.metadata.receipt);
  if (taskState?.id === taskId) return taskIn(taskState, received, context);
  throw received.error ?? new AgentError("bad_peer", `the reply of the peer is not about task ${taskId}`);
}

/** A reply as a message. */
export function messageIn(reply: ReadReply, { wire, call, envelope }: ReplyContext): Envelope {
  try {
    return decodeReply(reply, {
      now: wire.ids.now(),
      newId: () => wire.ids.newId(),
      src: wire.peer.card.name,
      dst: call.caller.id,
      sessionId: envelope?.context.sessionId,
      parentId: envelope?.id,
      traceId: envelope?.context.traceId,
    });
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

/** The carried task; from other peers, a task built from the receipt and the body. */
function taskIn(
  { id, state }: { readonly id: string; readonly state: State },
  received: ReceivedReply,
  context: ReplyContext,
): Task {
  const { reply, error } = received;
  const message = messageIn(reply, context);
  const contextId = context.envelope?.context.sessionId;
  const carried = carriedIn(reply);
  if (carried !== undefined) return { ...carried, contextId: contextId ?? carried.contextId };
  const done = state === "completed";
  return {
    id,
    contextId: message.context.sessionId ?? reply.conversationId ?? id,
    status: statusOf(state, context.wire.ids.now(), done ? undefined : message, error),
    artifacts: done && reply.body !== "" ? [{ id: "result", parts: message.content }] : [],
    history: [],
    metadata: undefined,
  };
}

function carriedIn({ metadata, body }: ReadReply): Maybe<Task> {
  try {
    return readTask(metadata, body);
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

function statusOf(state: State, at: number, message: Maybe<Envelope>, error: Maybe<AgentError>): Status {
  if (state !== "failed") return { state, at, message };
  return { state, at, message, error: error === undefined ? undefined : { code: error.code, message: error.message } };
}
