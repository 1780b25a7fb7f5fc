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
import type { Asked } from "./asked.js";

/** What came of a message, before it is written. */
export interface Outcome {
  readonly message: Envelope;
  /** The task that produced the answer. */
  readonly task: Maybe<Task>;
  /** The work is not over: it waits for the caller's answer, or goes on and is to be collected. */
  readonly open: Maybe<"asks" | "works">;
  /** The document wants JSON. */
  readonly json: boolean;
}

/** A piece of work that ended badly. It goes along, so that a caller of ours sees which, and what came of it. */
export class WorkFailed extends AgentError {
  readonly task: Task;

  constructor(error: AgentError, task: Task) {
    super(error.code, error.message, error.facts);
    this.task = task;
  }
}

/** What an answering event means. Throws WorkFailed for work that failed, was refused or canceled. */
export function outcomeOf(event: AgentEvent, asked: Asked, json: boolean, newId: () => string): Outcome {
  if (event.kind === "message") return { message: event.message, task: undefined, open: undefined, json };
  if (event.kind !== "task") throw new AgentError("internal", `a ${event.kind} does not answer a message`);
  const { task } = event;
  const { state } = task.status;
  if (isTerminal(state) && state !== "completed") {
    if (asked.wire.metadata.koine !== 1) loseTask(task, false, (loss) => asked.call.reportLoss(loss));
    throw new WorkFailed(failureOf(task), task);
  }
  const open = isInterrupted(state) ? "asks" : state === "completed" ? undefined : "works";
  const content = open === "works" ? [textPart(receiptText(task.id))] : shownParts(task);
  return { message: said(task, content, asked, newId), task, open, json };
}

function receiptText(id: string): string {
  return `The work goes on. Its receipt is ${id}; any further message of this conversation collects the result.`;
}

function failureOf({ status }: Task): AgentError {
  const words = status.message === undefined ? "" : textOf(status.message.content);
  switch (status.state) {
    case "failed":
      return new AgentError(status.error?.code ?? "internal", (words || status.error?.message) ?? "the work failed");
    case "canceled":
      return new AgentError("cancelled", words || "the work was canceled");
    default:
      return new AgentError("unsupported", words || "the agent does not take this");
  }
}

/** Words of the agent about a task. */
function said(task: Task, content: readonly Part[], asked: Asked, newId: () => string): Envelope {
  const parts = content.length === 0 ? [textPart("")] : content;
  return agentMessage(asked, parts, { sessionId: task.contextId, taskId: task.id }, { now: () => task.status.at, newId });
}

/** A message from the agent to the caller. */
export function agentMessage(
  { agent, caller }: Asked,
  content: readonly Part[],
  context: Context,
  ids: Parameters<typeof newEnvelope>[1],
): Envelope {
  return { ...newEnvelope({ content, src: agent, dst: caller.id, context }, ids), role: "agent" };
}
