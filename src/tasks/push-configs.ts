import { AgentError, type Call, type EventOf, type OperationOf, type PushConfig } from "../envelope/index.js";
import { checkPush } from "./push-checks.js";
import type { PushDispatcher } from "./push-delivery.js";
import { taskNotFound } from "./refusals.js";
import type { RuntimeContext } from "./runtime-context.js";

/** The configuration as it is kept: with an id, and with the wire that asked for it. Throws for one that would never be told. */
export async function checkedPush(place: RuntimeContext, call: Call, config: PushConfig, taskId: string): Promise<PushConfig> {
  const teller = requirePush(place);
  checkPush(config);
  const { url, token, authentication } = config;
  const { protocol, version } = call.via;
  const id = config.id === "" ? place.ids.newId() : config.id;
  const checked = { taskId, id, url, token, authentication, via: { protocol, version } };
  await teller.allows(checked);
  return checked;
}

/** Keeps where a caller wants to be told. */
export async function storePush(place: RuntimeContext, call: Call, config: PushConfig, taskId: string): Promise<PushConfig> {
  const stored = await checkedPush(place, call, config, taskId);
  const outcome = await place.store.setPush(call.caller.owner, stored);
  if (outcome === "missing") throw taskNotFound(taskId);
  if (outcome === "full") {
    throw new AgentError("too_large", `a task has at most ${place.limits.pushConfigsPerTask} push configurations`);
  }
  // One that was given up and is set anew has something to be told at once.
  place.push?.nudge();
  return stored;
}

/** Keeps one configuration; the same id replaces. */
export async function setPush(
  place: RuntimeContext,
  { config }: OperationOf<"push.set">,
  call: Call,
): Promise<EventOf<"push.set">> {
  const stored = await storePush(place, call, config, config.taskId);
  return { kind: "push", config: withoutSecrets(stored) };
}

/** A configuration that is not there is answered like a task that is not there (A2A 1.0 §3.1.8). */
export async function getPush(
  place: RuntimeContext,
  operation: OperationOf<"push.get">,
  call: Call,
): Promise<EventOf<"push.get">> {
  const { taskId, id } = operation;
  const config = (await configsOf(place, taskId, call)).find((one) => one.id === id);
  if (config === undefined) throw taskNotFound(taskId);
  return { kind: "push", config: withoutSecrets(config) };
}

/** All of them: a task has so few that there is never a second page. */
export async function listPush(
  place: RuntimeContext,
  operation: OperationOf<"push.list">,
  call: Call,
): Promise<EventOf<"push.list">> {
  if (operation.pageToken !== undefined && operation.pageToken !== "") {
    throw new AgentError("invalid_message", "pageToken: not a token of this agent", { field: "pageToken" });
  }
  const configs = await configsOf(place, operation.taskId, call);
  return { kind: "pushes", configs: configs.map(withoutSecrets), nextPageToken: "" };
}

/** Forgets one configuration; one that is not there is forgotten already. */
export async function deletePush(
  place: RuntimeContext,
  operation: OperationOf<"push.delete">,
  call: Call,
): Promise<EventOf<"push.delete">> {
  requirePush(place);
  const { taskId, id } = operation;
  if (!(await place.store.deletePush(taskId, call.caller.owner, id))) throw taskNotFound(taskId);
  return { kind: "done" };
}

/** Without a port nothing about push is offered. */
export function requirePush({ push }: RuntimeContext): PushDispatcher {
  if (push === undefined) throw new AgentError("push_unsupported", "this agent sends no push notifications");
  return push;
}

async function configsOf(place: RuntimeContext, taskId: string, call: Call): Promise<readonly PushConfig[]> {
  requirePush(place);
  const configs = await place.store.pushes(taskId, call.caller.owner);
  if (configs === undefined) throw taskNotFound(taskId);
  return configs;
}

/** Secrets go in and never come out. */
function withoutSecrets({ taskId, id, url, authentication, delivery }: PushConfig): PushConfig {
  return { taskId, id, url, authentication: authentication && { scheme: authentication.scheme }, delivery };
}
