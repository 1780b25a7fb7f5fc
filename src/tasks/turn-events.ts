import {
  AgentError,
  type Content,
  type Envelope,
  type Failure,
  type IdSource,
  isProtected,
  isTerminal,
  type Maybe,
  type Metadata,
  type Part,
  partsOf,
  type Task,
  type TaskEvent,
  textOf,
} from "../envelope/index.js";
import {
  type ArtifactOptions,
  Ending,
  Progress,
  Relayed,
  RelayedMessage,
  type Result,
  type UpstreamEvent,
} from "./agent-function.js";
import { agentMessage, type Conversation, relayedMessage } from "./messages.js";

type StatusState = "working" | "input-required" | "auth-required" | "completed" | "rejected" | "canceled";

interface StatusDetail {
  readonly content: Maybe<Content>;
  readonly metadata?: Maybe<Metadata>;
}
const NO_DETAIL: StatusDetail = Object.freeze({ content: undefined });

/** The addressing of messages of a task. */
export interface TaskConversation extends Conversation {
  readonly taskId: string;
}

/** A status change with an optional message. */
export function statusEvent(
  conversation: TaskConversation,
  state: StatusState,
  ids: IdSource,
  { content, metadata }: StatusDetail = NO_DETAIL,
): TaskEvent {
  const message = content === undefined ? undefined : agentMessage(conversation, content, ids);
  return {
    kind: "status",
    taskId: conversation.taskId,
    contextId: conversation.sessionId,
    status: { state, at: ids.now(), message },
    metadata,
  };
}

/** A failure with an error code and a message. */
export function failedEvent(
  conversation: TaskConversation,
  ids: IdSource,
  error: Failure,
  content: Content = error.message,
): TaskEvent {
  const status = { state: "failed", at: ids.now(), message: agentMessage(conversation, content, ids), error } as const;
  return { kind: "status", taskId: conversation.taskId, contextId: conversation.sessionId, status };
}

/** An artifact or a chunk of one. */
export function artifactEvent(
  conversation: TaskConversation,
  id: string,
  parts: readonly Part[],
  options: ArtifactOptions,
): TaskEvent {
  const { name, description, metadata, append = false, last = false } = options;
  const artifact = { id, name, description, parts, metadata, extensions: undefined };
  return {
    kind: "artifact",
    taskId: conversation.taskId,
    contextId: conversation.sessionId,
    artifact,
    append,
    last,
    metadata: undefined,
  };
}

/** An upstream event as an event of this task. Timestamps come from the local clock: retention depends on them. */
export function relayedEvent(conversation: TaskConversation, event: UpstreamEvent, ids: IdSource): TaskEvent {
  const { taskId, sessionId: contextId } = conversation;
  const { metadata } = event;
  if (event.kind === "artifact") {
    const { artifact, append, last } = event;
    return { kind: "artifact", taskId, contextId, artifact, append, last, metadata };
  }
  const { message } = event.status;
  const status = { ...event.status, at: ids.now(), message: message && relayedMessage(conversation, message) };
  return { kind: "status", taskId, contextId, status, metadata };
}

/** The last entries of a turn. `final` endings apply even if a message is queued. */
export interface TurnEnd {
  readonly events: readonly TaskEvent[];
  readonly final: boolean;
}

/** The default artifact for content an agent returns or yields as text. */
export interface ResultArtifact {
  readonly id: string;
  readonly started: boolean;
}

const RESULT = "result";

/** A later turn does not overwrite the result of an earlier one. */
export function resultOf(task: Task, turn: number): ResultArtifact {
  const taken = turn > 1 && task.artifacts.some(({ id }) => id === RESULT);
  return { id: taken ? `${RESULT}-${turn}` : RESULT, started: false };
}

/** What an agent yields. Text is a chunk of the default artifact. */
export function progressEvent(
  conversation: TaskConversation,
  step: Progress | string,
  { id, started }: ResultArtifact,
  ids: IdSource,
): TaskEvent {
  if (!(step instanceof Progress)) return artifactEvent(conversation, id, partsOf(step), { append: started });
  const { content, options } = step;
  if (step.step === "working") return statusEvent(conversation, "working", ids, { content, metadata: options.metadata });
  return artifactEvent(conversation, options.id ?? ids.newId(), partsOf(content ?? []), options);
}

/** The task events for an agent's return value or error. */
export function turnEnd(
  conversation: TaskConversation,
  result: Result | AgentError,
  artifact: ResultArtifact,
  ids: IdSource,
): TurnEnd {
  if (result instanceof AgentError) {
    return { events: [failedEvent(conversation, ids, { code: result.code, message: result.message })], final: true };
  }
  if (result instanceof Ending) return endingEvents(conversation, result, ids);
  if (result instanceof Relayed) return relayedEnd(conversation, result, ids);
  if (result instanceof RelayedMessage) return messageEnd(conversation, result.message, artifact, ids);
  const completed = statusEvent(conversation, "completed", ids);
  if (result === undefined || result === null) return { events: [completed], final: false };
  const options = { append: artifact.started, last: true };
  return { events: [artifactEvent(conversation, artifact.id, partsOf(result), options), completed], final: false };
}

/** A terminal upstream status is final, even if a message is queued. */
function relayedEnd(conversation: TaskConversation, { events }: Relayed, ids: IdSource): TurnEnd {
  const last = events.at(-1);
  if (last?.kind !== "status") throw new AgentError("internal", "a relayed turn does not end with a status");
  return { events: events.map((event) => relayedEvent(conversation, event, ids)), final: isTerminal(last.status.state) };
}

/** A bare message as the result of a task: its content, or the whole message where a signature or ciphertext belongs to it. */
function messageEnd(conversation: TaskConversation, message: Envelope, { id, started }: ResultArtifact, ids: IdSource): TurnEnd {
  const { content, metadata } = message;
  if (isProtected(message)) {
    const { taskId, sessionId: contextId } = conversation;
    const status = { state: "completed", at: ids.now(), message: relayedMessage(conversation, message) } as const;
    return { events: [{ kind: "status", taskId, contextId, status, metadata: undefined }], final: false };
  }
  const options = { append: started, last: true, ...(metadata !== undefined && { metadata }) };
  return {
    events: [artifactEvent(conversation, id, content, options), statusEvent(conversation, "completed", ids)],
    final: false,
  };
}

function endingEvents(conversation: TaskConversation, { state, content }: Ending, ids: IdSource): TurnEnd {
  switch (state) {
    case "failed": {
      const reason = content ?? "the agent gave up";
      return {
        events: [failedEvent(conversation, ids, { code: "internal", message: textOf(partsOf(reason)) }, reason)],
        final: true,
      };
    }
    case "rejected":
      return { events: [statusEvent(conversation, state, ids, { content })], final: true };
    case "input-required":
    case "auth-required":
    case "completed":
      return { events: [statusEvent(conversation, state, ids, { content })], final: false };
    default:
      return state satisfies never;
  }
}

/** While a message is queued, the ending is replaced by `working` with its message, and the next turn handles the queue. */
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
