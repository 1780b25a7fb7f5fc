import { AgentError, type Call, type EventOf, floorName, type OperationOf, type PushConfig } from "../envelope/index.js";
import { checkPush } from "./push-checks.js";
import type { PushDispatcher } from "./push-delivery.js";
import { taskNotFound } from "./refusals.js";
import type { RuntimeContext } from "./runtime-context.js";

/** The configuration as stored: with an id and the protocol it was set over. Throws if it can never be delivered to. */
export async function checkedPush(context: RuntimeContext, call: Call, config: PushConfig, taskId: string): Promise<PushConfig> {
  const dispatcher = requirePush(context);
  checkPush(config);
  const { url, token, authentication } = config;
  const { protocol, version } = call.via;
  const id = config.id === "" ? context.ids.newId() : config.id;
  const checked = { taskId, id, url, token, authentication, via: { protocol, version }, floor: floorName(call.floor) };
  await dispatcher.allows(checked, call.caller.owner);
  return checked;
}

/** Stores a push configuration. */
export async function storePush(context: RuntimeContext, call: Call, config: PushConfig, taskId: string): Promise<PushConfig> {
  const stored = await checkedPush(context, call, config, taskId);
  const outcome = await context.store.setPush(call.caller.owner, stored);
  if (outcome === "missing") throw taskNotFound(taskId);
  if (outcome === "full") {
    throw new AgentError("too_large", `a task has at most ${context.limits.pushConfigsPerTask} push configurations`);
  }
  // A configuration that was abandoned and is set again may have pending entries.
  context.push?.nudge();
  return stored;
}

/** Stores one configuration; the same id replaces it. */
export async function setPush(
  context: RuntimeContext,
  { config }: OperationOf<"push.set">,
  call: Call,
): Promise<EventOf<"push.set">> {
  const stored = await storePush(context, call, config, config.taskId);
  return { kind: "push", config: withoutSecrets(stored) };
}

/** A missing configuration is reported like a missing task (A2A 1.0 §3.1.8). */
export async function getPush(
  context: RuntimeContext,
  operation: OperationOf<"push.get">,
  call: Call,
): Promise<EventOf<"push.get">> {
  const { taskId, id } = operation;
  const config = (await configsOf(context, taskId, call)).find((one) => one.id === id);
  if (config === undefined) throw taskNotFound(taskId);
  return { kind: "push", config: withoutSecrets(config) };
}

/** Lists all configurations: `pushConfigsPerTask` is small enough for one page. */
export async function listPush(
  context: RuntimeContext,
  operation: OperationOf<"push.list">,
  call: Call,
): Promise<EventOf<"push.list">> {
  if (operation.pageToken !== undefined && operation.pageToken !== "") {
    throw new AgentError("invalid_message", "pageToken: not a token of this agent", { field: "pageToken" });
  }
  const configs = await configsOf(context, operation.taskId, call);
  return { kind: "pushes", configs: configs.map(withoutSecrets), nextPageToken: "" };
}

/** Deletes one configuration; deleting a missing one succeeds. */
export async function deletePush(
  context: RuntimeContext,
  operation: OperationOf<"push.delete">,
  call: Call,
): Promise<EventOf<"push.delete">> {
  requirePush(context);
  const { taskId, id } = operation;
  if (!(await context.store.deletePush(taskId, call.caller.owner, id))) throw taskNotFound(taskId);
  return { kind: "done" };
}

/** Throws `push_unsupported` without a push port. */
export function requirePush({ push }: RuntimeContext): PushDispatcher {
  if (push === undefined) throw new AgentError("push_unsupported", "this agent sends no push notifications");
  return push;
}

async function configsOf(context: RuntimeContext, taskId: string, call: Call): Promise<readonly PushConfig[]> {
  requirePush(context);
  const configs = await context.store.pushes(taskId, call.caller.owner);
  if (configs === undefined) throw taskNotFound(taskId);
  return configs;
}

/** Secrets are never returned to callers. */
function withoutSecrets({ taskId, id, url, authentication, delivery }: PushConfig): PushConfig {
  return { taskId, id, url, authentication: authentication && { scheme: authentication.scheme }, delivery };
}
