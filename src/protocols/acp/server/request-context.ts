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
import { PLAIN } from "../plain/discover.js";
import type { AcpSettings } from "../settings.js";

/** One request, before its agent is known. */
export interface RequestContext {
  readonly host: Host;
  readonly settings: AcpSettings;
  readonly request: HttpRequest;
}

/** The same, with an authenticated caller. */
export interface AdmittedRequest extends RequestContext {
  readonly caller: Principal;
}

export const VIA_REST: Via = Object.freeze({ protocol: "acp", version: "0.2", binding: "REST" });
export const VIA_PLAIN: Via = Object.freeze({ protocol: "acp", ...PLAIN });

/** The accepted content types. Official clients send none; types that a web page can send cross-origin are rejected. */
export const BODY_TYPES = ["application/json"] as const;

/** Authenticates the caller, or throws the rejection. */
export async function admit({ host, settings, request }: RequestContext): Promise<AdmittedRequest> {
  return { host, settings, request, caller: await host.admit(request) };
}

/** The call of one request to one agent. */
export function beginCall({ host, request, caller }: AdmittedRequest, agent: string, via: Via = VIA_REST): Call {
  return host.begin(request, { caller, agent, via });
}

/** The single event of a handler; a stream is a bug of the handler. */
export async function oneEvent(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "expected a single event, got a stream");
}

export function taskOf(event: AgentEvent): Task {
  if (event.kind === "task") return event.task;
  throw new AgentError("internal", `expected a task, got ${event.kind}`);
}

/** The events that can answer a message. */
export async function* sendEvents(reply: Reply): AsyncGenerator<EventOf<"send">, void, void> {
  if (isPromise(reply)) yield asSendEvent(await reply);
  else for await (const event of reply) yield asSendEvent(event);
}

export function asSendEvent(event: AgentEvent): EventOf<"send"> {
  if (event.kind === "task" || event.kind === "status" || event.kind === "artifact" || event.kind === "message") return event;
  throw new AgentError("internal", `expected a task event, got ${event.kind}`);
}
