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
import type { Heard, Wire } from "./post.js";

/** Of whom and of what a reply speaks. */
export interface Asked {
  readonly wire: Wire;
  readonly call: Call;
  /** The message that is answered, where there was one. */
  readonly envelope: Maybe<Envelope>;
}

/** The answer to a message: the task where the peer tells of one, else what was said. Throws its error. */
export function answerTo(heard: Heard, asked: Asked): AgentEvent {
  const told = stateOf(heard.reply.metadata.receipt);
  if (heard.error !== undefined && (told === undefined || !isTerminal(told.state))) throw heard.error;
  if (told !== undefined) return { kind: "task", task: taskIn(told, heard, asked) };
  return { kind: "message", message: messageIn(heard.reply, asked) };
}

/** The work behind a receipt. Throws the peer's error where it does not tell of exactly this work. */
export function taskAbout(taskId: string, heard: Heard, asked: Asked): Task {
  const told = stateOf(heard.reply.metadata.receipt);
  if (told?.id === taskId) return taskIn(told, heard, asked);
  throw heard.error ?? new AgentError("bad_peer", `the peer was asked about ${taskId} and speaks of something else`);
}

/** A reply as the message it is. */
export function messageIn(reply: ReadReply, { wire, call, envelope }: Asked): Envelope {
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

/** As the peer carries it; of one that does not, what the receipt and the body say. */
function taskIn({ id, state }: { readonly id: string; readonly state: State }, heard: Heard, asked: Asked): Task {
  const { reply, error } = heard;
  const message = messageIn(reply, asked);
  const contextId = asked.envelope?.context.sessionId;
  const carried = carriedIn(reply);
  if (carried !== undefined) return { ...carried, contextId: contextId ?? carried.contextId };
  const done = state === "completed";
  return {
    id,
    contextId: message.context.sessionId ?? reply.conversationId ?? id,
    status: statusOf(state, asked.wire.ids.now(), done ? undefined : message, error),
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
