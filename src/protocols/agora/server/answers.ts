import {
  AgentError,
  type AgentEvent,
  type Context,
  type Envelope,
  isInterrupted,
  isTerminal,
  type Maybe,
  newEnvelope,
  type Part,
  type Task,
  textOf,
  textPart,
} from "../../../envelope/index.js";
import { loseTask, shownParts } from "../codec.js";
import type { IncomingMessage } from "./incoming-message.js";

/** The outcome of a message, before encoding. */
export interface Outcome {
  readonly message: Envelope;
  /** The task that produced the answer. */
  readonly task: Maybe<Task>;
  /** The task is not finished: it waits for input, or continues and its result can be collected. */
  readonly open: Maybe<"asks" | "works">;
  /** The document requires JSON. */
  readonly json: boolean;
}

/** A failed task. Carries the task, so that a Koine caller receives it. */
export class WorkFailed extends AgentError {
  readonly task: Task;

  constructor(error: AgentError, task: Task) {
    super(error.code, error.message, error.facts);
    this.task = task;
  }
}

/** Converts the final event. Throws WorkFailed if the task failed, was rejected or canceled. */
export function outcomeOf(event: AgentEvent, incoming: IncomingMessage, json: boolean, newId: () => string): Outcome {
  if (event.kind === "message") return { message: event.message, task: undefined, open: undefined, json };
  if (event.kind !== "task") throw new AgentError("internal", `a ${event.kind} does not answer a message`);
  const { task } = event;
  const { state } = task.status;
  if (isTerminal(state) && state !== "completed") {
    if (incoming.wire.metadata.koine !== 1) loseTask(task, false, (loss) => incoming.call.reportLoss(loss));
    throw new WorkFailed(failureOf(task), task);
  }
  const open = isInterrupted(state) ? "asks" : state === "completed" ? undefined : "works";
  const content = open === "works" ? [textPart(receiptText(task.id))] : shownParts(task);
  return { message: taskMessage(task, content, incoming, newId), task, open, json };
}

function receiptText(id: string): string {
  return `The work goes on. Its receipt is ${id}; any further message of this conversation collects the result.`;
}

function failureOf({ status }: Task): AgentError {
  const text = status.message === undefined ? "" : textOf(status.message.content);
  switch (status.state) {
    case "failed":
      return new AgentError(status.error?.code ?? "internal", (text || status.error?.message) ?? "the work failed");
    case "canceled":
      return new AgentError("cancelled", text || "the work was canceled");
    default:
      return new AgentError("unsupported", text || "the agent rejected the task");
  }
}

/** A message of the agent about a task. */
function taskMessage(task: Task, content: readonly Part[], incoming: IncomingMessage, newId: () => string): Envelope {
  const parts = content.length === 0 ? [textPart("")] : content;
  return agentMessage(incoming, parts, { sessionId: task.contextId, taskId: task.id }, { now: () => task.status.at, newId });
}

/** A message from the agent to the caller. */
export function agentMessage(
  { agent, caller }: IncomingMessage,
  content: readonly Part[],
  context: Context,
  ids: Parameters<typeof newEnvelope>[1],
): Envelope {
  return { ...newEnvelope({ content, src: agent, dst: caller.id, context }, ids), role: "agent" };
}
