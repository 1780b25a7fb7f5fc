import { AgentError, type Call, type Envelope, type OperationOf } from "../envelope/index.js";
import { openTurn } from "./open-turn.js";
import { storePush } from "./push-configs.js";
import { taskNotFound } from "./refusals.js";
import { Run } from "./run.js";
import type { RuntimeContext } from "./runtime-context.js";
import { Existing, leaseOf } from "./start-task.js";
import type { EnqueueResult, Facts } from "./store.js";
import { ttlOf } from "./turn.js";

/** The task may change between two steps; the loop gives up after this many attempts. */
const ATTEMPTS = 4;

/** Handles a message that names its task: it begins the next turn of an interrupted task and is queued for a running one. */
export async function followUp(context: RuntimeContext, operation: OperationOf<"send">, call: Call): Promise<Run | Existing> {
  const { envelope, push } = operation;
  const { taskId = "" } = envelope.context;
  const { owner } = call.caller;
  ttlOf(envelope);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const facts = await context.store.facts(taskId, owner);
    if (facts === undefined) throw taskNotFound(taskId);
    checkSession(envelope, facts);
    if (push !== undefined && attempt === 0) await storePush(context, call, push, taskId);
    const enqueued = await context.store.enqueue(taskId, owner, envelope);
    if (enqueued === "queued" || enqueued === "repeated") return new Existing(taskId, owner);
    if (enqueued !== "interrupted") throw enqueueRefused(enqueued, taskId);
    const run = await resume(context, operation, call, facts);
    if (run !== undefined) return run;
  }
  throw new AgentError("overloaded", "the task changed too often while the message was being added; retry");
}

/** Undefined if another process was faster. */
async function resume(context: RuntimeContext, operation: OperationOf<"send">, call: Call, facts: Facts) {
  const { envelope: message } = operation;
  const { taskId = "" } = message.context;
  const { owner, id: caller } = call.caller;
  const agent = context.agents.get(facts.agent);
  if (agent === undefined) throw new AgentError("not_found", "the agent of this task is no longer served");
  let run: Run | undefined;
  context.enter(owner);
  try {
    const resumed = await context.store.resume(taskId, owner, message, leaseOf(context));
    if (resumed.ok) {
      const { task, epoch, seq } = resumed;
      const turn = openTurn(context, { caller, owner, call, delivery: operation.delivery }, message, resumed);
      run = new Run(context, { task, owner, caller, agentName: facts.agent, agent, epoch, seq, message }, turn);
      context.push?.nudge();
      run.begin();
      return run;
    }
    if (resumed.because === "full") throw enqueueRefused("full", taskId);
    return undefined;
  } finally {
    if (run === undefined) context.leave(owner);
  }
}

/** A2A 1.0 §3.4.2: a context other than the task's own is rejected, never replaced. */
function checkSession({ context: { sessionId } }: Envelope, { contextId }: Facts): void {
  if (sessionId === undefined || sessionId === contextId) return;
  const field = "context.sessionId";
  throw new AgentError("invalid_message", `${field}: is not the session of the task`, { field });
}

function enqueueRefused(enqueued: Exclude<EnqueueResult, "queued" | "repeated" | "interrupted">, taskId: string): AgentError {
  switch (enqueued) {
    case "missing":
      return taskNotFound(taskId);
    case "closed":
      return new AgentError("task_closed", "the task has ended; start a new one in the same session", { detail: { taskId } });
    case "busy":
      return new AgentError("overloaded", "too many messages are queued for this task", { detail: { taskId } });
    case "full":
      return new AgentError("too_large", "the task has reached the limit of its journal", { detail: { taskId } });
    default:
      return enqueued satisfies never;
  }
}
