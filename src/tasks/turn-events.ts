import {
  AgentError,
  type Content,
  type Envelope,
  type Failure,
  type IdSource,
  isTerminal,
  type Maybe,
  type Metadata,
  type Part,
  partsOf,
  type Task,
  type TaskEvent,
  textOf,
} from "../envelope/index.js";
import { type ArtifactOptions, type ElsewhereEvent, Ending, Relayed, RelayedMessage, type Result } from "./agent-function.js";
import { agentMessage, type Conversation, relayedMessage } from "./messages.js";

type Said = "working" | "input-required" | "auth-required" | "completed" | "rejected" | "canceled";

interface Words {
  readonly content: Maybe<Content>;
  readonly metadata?: Maybe<Metadata>;
}
const NO_WORDS: Words = Object.freeze({ content: undefined });

/** The conversation of a task: its messages name it. */
export interface TaskTalk extends Conversation {
  readonly taskId: string;
}

/** A change of state, with what the agent says to it. */
export function statusEvent(talk: TaskTalk, state: Said, ids: IdSource, { content, metadata }: Words = NO_WORDS): TaskEvent {
  const message = content === undefined ? undefined : agentMessage(talk, content, ids);
  return { kind: "status", taskId: talk.taskId, contextId: talk.sessionId, status: { state, at: ids.now(), message }, metadata };
}

/** A failed task says why, in our codes for machines and in words for people. */
export function failedEvent(talk: TaskTalk, ids: IdSource, error: Failure, content: Content = error.message): TaskEvent {
  const status = { state: "failed", at: ids.now(), message: agentMessage(talk, content, ids), error } as const;
  return { kind: "status", taskId: talk.taskId, contextId: talk.sessionId, status };
}

/** A piece of what the agent makes. */
export function artifactEvent(talk: TaskTalk, id: string, parts: readonly Part[], options: ArtifactOptions): TaskEvent {
  const { name, description, metadata, append = false, last = false } = options;
  const artifact = { id, name, description, parts, metadata, extensions: undefined };
  return { kind: "artifact", taskId: talk.taskId, contextId: talk.sessionId, artifact, append, last, metadata: undefined };
}

/** An event of a task elsewhere as one of this task. When it happened is said by the clock here: how long a task is kept depends on it. */
export function relayedEvent(talk: TaskTalk, event: ElsewhereEvent, ids: IdSource): TaskEvent {
  const { taskId, sessionId: contextId } = talk;
  const { metadata } = event;
  if (event.kind === "artifact") {
    const { artifact, append, last } = event;
    return { kind: "artifact", taskId, contextId, artifact, append, last, metadata };
  }
  const { message } = event.status;
  const status = { ...event.status, at: ids.now(), message: message && relayedMessage(talk, message) };
  return { kind: "status", taskId, contextId, status, metadata };
}

/** How the entries of one turn end. `final` endings stand even if a message of the caller still waits. */
export interface TurnEnd {
  readonly events: readonly TaskEvent[];
  readonly final: boolean;
}

/** The unnamed artifact that holds what an agent returns or yields as text. */
export interface ResultArtifact {
  readonly id: string;
  readonly started: boolean;
}

const RESULT = "result";

/** A later turn does not write over what an earlier one has answered. */
export function resultOf(task: Task, turn: number): ResultArtifact {
  const taken = turn > 1 && task.artifacts.some(({ id }) => id === RESULT);
  return { id: taken ? `${RESULT}-${turn}` : RESULT, started: false };
}

/** What an agent's return value, or what it threw, means for its task. */
export function turnEnd(talk: TaskTalk, result: Result | AgentError, artifact: ResultArtifact, ids: IdSource): TurnEnd {
  if (result instanceof AgentError) {
    return { events: [failedEvent(talk, ids, { code: result.code, message: result.message })], final: true };
  }
  if (result instanceof Ending) return endingEvents(talk, result, ids);
  if (result instanceof Relayed) return relayedEnd(talk, result, ids);
  if (result instanceof RelayedMessage) return messageEnd(talk, result.message, artifact, ids);
  const completed = statusEvent(talk, "completed", ids);
  if (result === undefined || result === null) return { events: [completed], final: false };
  const options = { append: artifact.started, last: true };
  return { events: [artifactEvent(talk, artifact.id, partsOf(result), options), completed], final: false };
}

/** What ended elsewhere has ended, whoever still waits to be heard. */
function relayedEnd(talk: TaskTalk, { events }: Relayed, ids: IdSource): TurnEnd {
  const last = events.at(-1);
  if (last?.kind !== "status") throw new AgentError("internal", "a turn that was relayed has no end");
  return { events: events.map((event) => relayedEvent(talk, event, ids)), final: isTerminal(last.status.state) };
}

/** A bare message to a caller who wanted a task. */
function messageEnd(talk: TaskTalk, { content, metadata }: Envelope, { id, started }: ResultArtifact, ids: IdSource): TurnEnd {
  const options = { append: started, last: true, ...(metadata !== undefined && { metadata }) };
  return { events: [artifactEvent(talk, id, content, options), statusEvent(talk, "completed", ids)], final: false };
}

function endingEvents(talk: TaskTalk, { state, content }: Ending, ids: IdSource): TurnEnd {
  switch (state) {
    case "failed": {
      const reason = content ?? "the agent gave up";
      return { events: [failedEvent(talk, ids, { code: "internal", message: textOf(partsOf(reason)) }, reason)], final: true };
    }
    case "rejected":
      return { events: [statusEvent(talk, state, ids, { content })], final: true };
    case "input-required":
    case "auth-required":
    case "completed":
      return { events: [statusEvent(talk, state, ids, { content })], final: false };
    default:
      return state satisfies never;
  }
}

/** An ending that would leave a message unheard is not written; what it says is, and the next turn hears the message. */
export function withheldEnd(end: TurnEnd, at: number): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  for (const event of end.events) {
    if (event.kind !== "status") events.push(event);
    else if (event.status.message !== undefined) {
      events.push({ ...event, status: { state: "working", at, message: event.status.message } });
    }
  }
  return events;
}
