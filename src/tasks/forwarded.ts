import { type AgentEvent, authoredRequests, type Call, isPromise, type Maybe, type Reply } from "../envelope/index.js";
import { rethrowAsAgentError } from "./refusals.js";
import type { ForwardedOperation, RuntimeContext } from "./runtime-context.js";
import type { Facts } from "./store.js";

/**
 * The answer of the upstream to a request that its author proved for it, under the ids of this task. Undefined: the request is answered
 * here. A position in the journal is one of this runtime, so that a request with one is, too.
 */
function forwarded(context: RuntimeContext, operation: ForwardedOperation, call: Call, facts: Maybe<Facts>): Maybe<Reply> {
  if (facts?.saved === undefined || (operation.kind === "task.subscribe" && operation.after !== undefined)) return undefined;
  const reply = context.agents.get(facts.agent)?.forward?.(operation, facts.saved, call);
  if (reply === undefined) return undefined;
  const { taskId } = operation;
  const { contextId } = facts;
  return isPromise(reply) ? reply.then((event) => renamed(event, taskId, contextId)) : renamedEvents(reply, taskId, contextId);
}

/** The same for an operation with one answer. Costs a read of the store only where there is a proof. */
export async function forwardedAnswer(
  context: RuntimeContext,
  operation: ForwardedOperation,
  call: Call,
): Promise<Maybe<AgentEvent>> {
  if (authoredRequests.of(call) === undefined) return undefined;
  const reply = forwarded(context, operation, call, await context.store.facts(operation.taskId, call.caller.owner));
  return reply === undefined ? undefined : lastOf(reply);
}

/** The events of the upstream, or else those of this runtime. */
export async function* forwardedOr(
  context: RuntimeContext,
  operation: ForwardedOperation,
  call: Call,
  own: () => AsyncIterable<AgentEvent>,
): AsyncGenerator<AgentEvent, void, void> {
  const facts = await context.store.facts(operation.taskId, call.caller.owner).catch(rethrowAsAgentError);
  const reply = forwarded(context, operation, call, facts);
  if (reply !== undefined && isPromise(reply)) yield await reply;
  else yield* reply ?? own();
}

async function lastOf(reply: Reply): Promise<Maybe<AgentEvent>> {
  if (isPromise(reply)) return reply;
  let last: Maybe<AgentEvent>;
  for await (const event of reply) last = event;
  return last;
}

async function* renamedEvents(
  events: AsyncIterable<AgentEvent>,
  taskId: string,
  contextId: string,
): AsyncGenerator<AgentEvent, void, void> {
  for await (const event of events) yield renamed(event, taskId, contextId);
}

/** Without the cursor, which is a position at the upstream. */
function renamed(event: AgentEvent, taskId: string, contextId: string): AgentEvent {
  switch (event.kind) {
    case "task":
      return { ...event, cursor: undefined, task: { ...event.task, id: taskId, contextId } };
    case "status":
    case "artifact":
      return { ...event, cursor: undefined, taskId, contextId };
    default:
      return event;
  }
}
