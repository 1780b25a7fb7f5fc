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
 * How the peer treats the gateway is not how the gateway treats its caller; unless it was the caller's own credential
 * (`callers`) that the peer saw.
 */
export function asOurs(error: AgentError, callers: boolean): AgentError {
  switch (error.code) {
    case "unauthenticated":
    case "forbidden":
      if (callers) return error;
      return new AgentError("bad_peer", "the agent behind this gateway does not let the gateway in", {
        ...error.facts,
        cause: error,
      });
    case "task_not_found":
      return new AgentError("lost_place", "the agent behind this gateway no longer knows this task", { cause: error });
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
export function strangerOf(owner: string, caller: string): Principal {
  return { id: caller, scheme: "self", scopes: [], owner };
}

/** The answer to a question that has only one. */
export async function one(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "one answer was expected and a stream came");
}

/** Behind it nothing more belongs to the turn. */
export function isEnd(event: AgentEvent): boolean {
  if (event.kind === "message") return true;
  const state = event.kind === "task" ? event.task.status.state : event.kind === "status" ? event.status.state : undefined;
  return state !== undefined && (isTerminal(state) || isInterrupted(state));
}

/** The connection failed, not the work. */
export function isCut({ code }: AgentError): boolean {
  return code === "interrupted" || code === "unavailable";
}

/** Without tasks there is nothing to ask for again, and saying it again may do it twice. */
export function lostAnswer(cause: AgentError): AgentError {
  return new AgentError("lost_place", "the answer was lost on its way, and the agent behind this gateway keeps none", { cause });
}
