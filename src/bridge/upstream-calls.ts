import {
  AgentError,
  type AgentEvent,
  type Call,
  isInterrupted,
  isPromise,
  isTerminal,
  type Principal,
  type Reply,
} from "../envelope/index.js";

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

/** Whether the upstream may still work on a message whose call failed like this. */
export function mayContinue(error: AgentError): boolean {
  return error.facts.sent !== "no" && (error.code === "cancelled" || error.code === "deadline" || isConnectionError(error));
}

/** Without tasks the answer cannot be fetched again, and sending again may repeat the work. */
export function lostAnswer(cause: AgentError): AgentError {
  return new AgentError("lost_place", "the connection was lost before the answer arrived, and the upstream agent stores none", {
    cause,
  });
}
