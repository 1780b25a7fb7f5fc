import {
  AgentError,
  type AgentEvent,
  type Call,
  isClosing,
  isPromise,
  type Operation,
  type Task,
} from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";

/** Limit of tasks of a conversation searched for the one that a message started. */
const LOOKED_THROUGH = 20;

/** An operation with a single result event. */
export async function ask(host: Host, operation: Operation, call: Call): Promise<AgentEvent> {
  const reply = host.handler(operation, call);
  if (!isPromise(reply)) throw new AgentError("internal", "expected a single event, got a stream");
  return reply;
}

export async function taskNow(host: Host, taskId: string, call: Call): Promise<AgentEvent & { readonly kind: "task" }> {
  const event = await ask(host, { kind: "task.get", taskId }, call);
  if (event.kind !== "task") throw new AgentError("internal", `a ${event.kind} does not answer task.get`);
  return event;
}

/** The task once it has ended or needs input, or its snapshot after the timeout. */
export async function taskWithin(
  host: Host,
  taskId: string,
  call: Call,
  waitMs: number,
): Promise<AgentEvent & { readonly kind: "task" }> {
  const now = await taskNow(host, taskId, call);
  if (waitMs <= 0 || isClosing(now)) return now;
  const waiting = call.derive({ deadline: host.now() + waitMs });
  const events = host.handler({ kind: "task.subscribe", taskId, follow: true }, waiting);
  try {
    if (isPromise(events)) await events;
    else for await (const event of events) if (isClosing(event)) break;
  } catch (thrown) {
    // The task has just ended, or takes longer: in both cases its snapshot is authoritative.
    if (!isCode(thrown, "deadline") && !isCode(thrown, "unsupported")) throw thrown;
  }
  return taskNow(host, taskId, call);
}

/** The task that a message of a conversation started; a caller that waited for the answer never received its id. */
export async function taskOfMessage(host: Host, contextId: string, messageId: string, call: Call): Promise<Task | undefined> {
  const page = await ask(host, { kind: "task.list", contextId, pageSize: LOOKED_THROUGH }, call);
  if (page.kind !== "tasks") return undefined;
  return page.tasks.find(({ history }) => history.some(({ id }) => id === messageId));
}

export function isCode(thrown: unknown, code: AgentError["code"]): thrown is AgentError {
  return thrown instanceof AgentError && thrown.code === code;
}
