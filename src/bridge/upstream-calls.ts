import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  isInterrupted,
  isPromise,
  isTerminal,
  type Maybe,
  type Principal,
  type Reply,
  type Task,
} from "../envelope/index.js";
import type { UpstreamEvent } from "../tasks/index.js";

/**
 * Errors of the upstream about the gateway's credentials are not errors of the caller, unless the caller's own credential was
 * forwarded (`callers`).
 */
export function asGatewayError(error: AgentError, callers: boolean): AgentError {
  switch (error.code) {
    case "unauthenticated":
    case "forbidden":
      if (callers) return error;
      return new AgentError("bad_peer", "the upstream agent rejected the credentials of the gateway", {
        ...error.facts,
        cause: error,
      });
    case "task_not_found":
      return new AgentError("lost_place", "the upstream agent no longer knows this task", { cause: error });
    default:
      return error;
  }
}

export function traceOf({ parameters: { traceparent, tracestate } }: Call): Record<string, string> {
  return { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) };
}

export function extensionsOf({ parameters: { extensions } }: Call): Record<string, string> {
  return extensions === undefined ? {} : { extensions };
}

/** After a restart only the owner of a task is known. */
export function principalOf(owner: string, caller: string): Principal {
  return { id: caller, scheme: "self", scopes: [], owner };
}

/** The one answer of an operation that never streams. */
export async function one(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "expected one answer and received a stream");
}

/** Whether the event is the last of its turn. */
export function isEnd(event: AgentEvent): boolean {
  if (event.kind === "message") return true;
  const state = event.kind === "task" ? event.task.status.state : event.kind === "status" ? event.status.state : undefined;
  return state !== undefined && (isTerminal(state) || isInterrupted(state));
}

/** The connection failed, not the work. */
export function isConnectionError({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable";
}

/** Without tasks the answer cannot be fetched again, and sending again may repeat the work. */
export function lostAnswer(cause: AgentError): AgentError {
  return new AgentError("lost_place", "the connection was lost before the answer arrived, and the upstream agent stores none", {
    cause,
  });
}

/** An upstream task as events: its artifacts, then its status. An answer only in its history becomes the message of the end. */
export function snapshotEvents(task: Task): readonly UpstreamEvent[] {
  const of = { taskId: task.id, contextId: task.contextId };
  const artifacts = task.artifacts.map(
    (artifact): UpstreamEvent => ({ kind: "artifact", ...of, artifact, append: false, last: true }),
  );
  const { status } = task;
  const message = status.message ?? (artifacts.length === 0 && isTerminal(status.state) ? lastMessage(task) : undefined);
  // A submitted task without a message adds nothing to the task of the gateway.
  if (status.state === "submitted" && message === undefined) return artifacts;
  return [...artifacts, { kind: "status", ...of, status: { ...status, message } }];
}

function lastMessage({ history }: Task): Maybe<Envelope> {
  const last = history.at(-1);
  return last?.role === "agent" ? last : undefined;
}
