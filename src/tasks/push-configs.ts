import { AgentError, type Call, type EventOf, type OperationOf, type PushConfig } from "../envelope/index.js";
import { taskNotFound } from "./refusals.js";
import type { Workplace } from "./workplace.js";

/** Keeps where the caller of a send wants to be told. */
export async function storePush(place: Workplace, owner: string, config: PushConfig, taskId: string): Promise<PushConfig> {
  requirePush(place);
  const stored = { ...config, taskId, id: config.id === "" ? place.ids.newId() : config.id };
  const outcome = await place.store.setPush(owner, stored);
  if (outcome === "missing") throw taskNotFound(taskId);
  if (outcome === "full") {
    throw new AgentError("too_large", `a task has at most ${place.limits.pushConfigsPerTask} push configurations`);
  }
  return stored;
}

/** Keeps one configuration; the same id replaces. */
export async function setPush(place: Workplace, { config }: OperationOf<"push.set">, call: Call): Promise<EventOf<"push.set">> {
  const stored = await storePush(place, call.caller.owner, config, config.taskId);
  return { kind: "push", config: withoutSecrets(stored) };
}

/** A configuration that is not there is answered like a task that is not there (A2A 1.0 §3.1.8). */
export async function getPush(place: Workplace, operation: OperationOf<"push.get">, call: Call): Promise<EventOf<"push.get">> {
  const { taskId, id } = operation;
  const config = (await configsOf(place, taskId, call)).find((one) => one.id === id);
  if (config === undefined) throw taskNotFound(taskId);
  return { kind: "push", config: withoutSecrets(config) };
}

/** All of them: a task has so few that there is never a second page. */
export async function listPush(place: Workplace, operation: OperationOf<"push.list">, call: Call): Promise<EventOf<"push.list">> {
  if (operation.pageToken !== undefined && operation.pageToken !== "") {
    throw new AgentError("invalid_message", "pageToken: not a token of this agent", { field: "pageToken" });
  }
  const configs = await configsOf(place, operation.taskId, call);
  return { kind: "pushes", configs: configs.map(withoutSecrets), nextPageToken: "" };
}

/** Forgets one configuration; one that is not there is forgotten already. */
export async function deletePush(
  place: Workplace,
  operation: OperationOf<"push.delete">,
  call: Call,
): Promise<EventOf<"push.delete">> {
  requirePush(place);
  const { taskId, id } = operation;
  if (!(await place.store.deletePush(taskId, call.caller.owner, id))) throw taskNotFound(taskId);
  return { kind: "done" };
}

/** Without a port nothing about push is offered. */
export function requirePush(place: Workplace): void {
  if (place.push === undefined) throw new AgentError("push_unsupported", "this agent sends no push notifications");
}

async function configsOf(place: Workplace, taskId: string, call: Call): Promise<readonly PushConfig[]> {
  requirePush(place);
  const configs = await place.store.pushes(taskId, call.caller.owner);
  if (configs === undefined) throw taskNotFound(taskId);
  return configs;
}

/** Secrets go in and never come out. */
function withoutSecrets({ taskId, id, url, authentication }: PushConfig): PushConfig {
  return { taskId, id, url, authentication: authentication && { scheme: authentication.scheme } };
}
