import {
  AgentError,
  type AgentEvent,
  type Call,
  type EventOf,
  isPromise,
  type Principal,
  type Reply,
  type Task,
  type Via,
} from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import type { Host } from "../../protocol.js";
import type { AcpSettings } from "../settings.js";

/** One request to the host, before anybody knows which agent it is for. */
export interface Asked {
  readonly host: Host;
  readonly settings: AcpSettings;
  readonly request: HttpRequest;
}

/** The same, from a caller that was let in. */
export interface Admitted extends Asked {
  readonly caller: Principal;
}

export const VIA_REST: Via = Object.freeze({ protocol: "acp", version: "0.2", binding: "REST" });
export const VIA_PLAIN: Via = Object.freeze({ protocol: "acp", version: "0.2", binding: "PLAIN" });

/** The accepted content types. Official clients send none; types that a web page can send cross-origin are rejected. */
export const BODY_TYPES = ["application/json"] as const;

/** Lets the caller in, or throws what it is refused with. */
export async function admit(asked: Asked): Promise<Admitted> {
  return { ...asked, caller: await asked.host.admit(asked.request) };
}

/** The call of one request to one agent. */
export function beginCall({ host, request, caller }: Admitted, agent: string, via: Via = VIA_REST): Call {
  return host.begin(request, { caller, agent, via });
}

/** The one event a handler answers with; a stream is its bug. */
export async function oneEvent(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "one answer was expected and a stream came");
}

export function taskOf(event: AgentEvent): Task {
  if (event.kind === "task") return event.task;
  throw new AgentError("internal", `a task was expected and a ${event.kind} came`);
}

/** What a message may be answered with, one or many. */
export async function* sendEvents(reply: Reply): AsyncGenerator<EventOf<"send">, void, void> {
  if (isPromise(reply)) yield asSendEvent(await reply);
  else for await (const event of reply) yield asSendEvent(event);
}

export function asSendEvent(event: AgentEvent): EventOf<"send"> {
  if (event.kind === "task" || event.kind === "status" || event.kind === "artifact" || event.kind === "message") return event;
  throw new AgentError("internal", `an event of a task was expected and a ${event.kind} came`);
}
