import { AgentError, type Call, type Envelope, type OperationOf } from "../envelope/index.js";
import { openTurn } from "./open-turn.js";
import { storePush } from "./push-configs.js";
import { taskNotFound } from "./refusals.js";
import { Run } from "./run.js";
import type { RuntimeContext } from "./runtime-context.js";
import { Existing, leaseOf } from "./start-task.js";
import type { Facts, Heard } from "./store.js";
import { ttlOf } from "./turn.js";

/** A task may change between two steps; it is looked at anew a few times only. */
const LOOKS = 4;

/** A message that names its task: it begins the next turn of a task that waits, and is queued for one that runs. */
export async function followUp(place: RuntimeContext, operation: OperationOf<"send">, call: Call): Promise<Run | Existing> {
  const { envelope, push } = operation;
  const { taskId = "" } = envelope.context;
  const { owner } = call.caller;
  ttlOf(envelope);
  for (let look = 0; look < LOOKS; look++) {
    const facts = await place.store.facts(taskId, owner);
    if (facts === undefined) throw taskNotFound(taskId);
    checkSession(envelope, facts);
    if (push !== undefined && look === 0) await storePush(place, call, push, taskId);
    const heard = await place.store.hear(taskId, owner, envelope);
    if (heard === "heard" || heard === "repeated") return new Existing(taskId, owner);
    if (heard !== "interrupted") throw notHeard(heard, taskId);
    const run = await resume(place, operation, call, facts);
    if (run !== undefined) return run;
  }
  throw new AgentError("overloaded", "the task changes faster than the message can be put to it");
}

/** Undefined when somebody else was faster. */
async function resume(place: RuntimeContext, operation: OperationOf<"send">, call: Call, facts: Facts) {
  const { envelope: message } = operation;
  const { taskId = "" } = message.context;
  const { owner, id: caller } = call.caller;
  const agent = place.agents.get(facts.agent);
  if (agent === undefined) throw new AgentError("not_found", "the agent of this task is no longer served");
  let run: Run | undefined;
  place.enter(owner);
  try {
    const resumed = await place.store.resume(taskId, owner, message, leaseOf(place));
    if (resumed.ok) {
      const { task, epoch, seq } = resumed;
      const turn = openTurn(place, { caller, owner, call, delivery: operation.delivery }, message, resumed);
      run = new Run(place, { task, owner, caller, agentName: facts.agent, agent, epoch, seq, message }, turn);
      place.push?.nudge();
      run.begin();
      return run;
    }
    if (resumed.because === "full") throw notHeard("full", taskId);
    return undefined;
  } finally {
    if (run === undefined) place.leave(owner);
  }
}

/** A2A 1.0 §3.4.2: a context that is not the task's own is refused, never exchanged for it. */
function checkSession({ context: { sessionId } }: Envelope, { contextId }: Facts): void {
  if (sessionId === undefined || sessionId === contextId) return;
  const field = "context.sessionId";
  throw new AgentError("invalid_message", `${field}: is not the session of the task`, { field });
}

function notHeard(heard: Exclude<Heard, "heard" | "repeated" | "interrupted">, taskId: string): AgentError {
  switch (heard) {
    case "missing":
      return taskNotFound(taskId);
    case "closed":
      return new AgentError("task_closed", "the task has ended; start a new one in the same session", { detail: { taskId } });
    case "busy":
      return new AgentError("overloaded", "too many messages wait for this task already", { detail: { taskId } });
    case "full":
      return new AgentError("too_large", "the task has reached the limit of its journal", { detail: { taskId } });
    default:
      return heard satisfies never;
  }
}
