import {
  AgentError,
  type Card,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Maybe,
  type Task,
  TaskFold,
} from "../../../envelope/index.js";
import { readQuery } from "../../../transport/address-parts.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { agentNamed, agentOf, createdAt, defaultAgent } from "./agents.js";
import { NO_PROGRESS, type Progress, progressAfter, refusePlain, resultsOf, standing } from "./plain-reply.js";
import { admit, beginCall, type RequestContext, taskOf, VIA_PLAIN } from "./request-context.js";
import { logOf } from "./run-log.js";

/** The protocol version in the seed's agents. */
export const PLAIN_VERSION = "1.0.0";
export const FEATURES = ["streaming", "progress_tracking", "async_generator"] as const;

/** The health of the agent: that of its host. */
export async function showHealth({ name }: Card, host: Host, more: JsonObject = {}): Promise<HttpResponse> {
  const isHealthy = (await host.health.status()) === "ok";
  const document = { ...more, agent_id: name, status: isHealthy ? "healthy" : "unhealthy", timestamp: host.now() / 1000 };
  return jsonResponse(isHealthy ? 200 : 503, JSON.stringify(document), { "cache-control": "no-store" });
}

/** `GET /acp/capabilities`, of the agent in `agent_id` or of the default one. */
export function showCapabilities(context: RequestContext): HttpResponse {
  try {
    context.host.checkPublic?.(context.request);
    const { name, skills } = requestedCard(context.host, readQuery(context.request.query).get("agent_id"));
    const capabilities = skills.map(({ id }) => id);
    const document = { agent_id: name, capabilities, protocol: "ACP", version: PLAIN_VERSION, features: FEATURES };
    return jsonResponse(200, JSON.stringify(document));
  } catch (thrown) {
    return refusePlain(callerError(context.host, thrown), undefined);
  }
}

/** `GET /acp/status`: the health of the agent, or with `run_id` (also `job_id`) the state and result of that run. */
export async function showStatus(context: RequestContext): Promise<HttpResponse> {
  try {
    const query = readQuery(context.request.query);
    const runId = query.get("run_id") ?? query.get("job_id");
    if (runId !== undefined) return await showRunStatus(context, runId);
    context.host.checkPublic?.(context.request);
    return await showHealth(requestedCard(context.host, query.get("agent_id")), context.host);
  } catch (thrown) {
    return refusePlain(callerError(context.host, thrown), undefined);
  }
}

function requestedCard(host: Host, name: Maybe<string>): Card {
  return name === undefined ? defaultAgent(host) : agentNamed(host, name, "agent_id");
}

/** The log contains progress messages that the task does not. */
async function showRunStatus(context: RequestContext, runId: string): Promise<HttpResponse> {
  const admitted = await admit(context);
  const { host } = admitted;
  const call = beginCall(admitted, defaultAgent(host).name, VIA_PLAIN);
  let fold: TaskFold | undefined;
  let progress = NO_PROGRESS;
  for await (const event of logOf(host, call, runId)) {
    if (fold === undefined) fold = new TaskFold(taskOf(event));
    else if (event.kind !== "message") fold.apply(event);
    progress = progressAfter(progress, event);
  }
  if (fold === undefined) throw new AgentError("internal", "the log of a task was empty");
  return jsonResponse(200, JSON.stringify(statusOf(host, fold.snapshot(), progress)), { "cache-control": "no-store" });
}

function statusOf(host: Host, task: Task, progress: Progress): JsonObject {
  const { status } = task;
  return {
    run_id: task.id,
    job_id: task.id,
    agent_id: agentOf(host, task),
    session_id: task.contextId,
    ...standing(status),
    progress: { ...progress },
    results: isTerminal(status.state) || isInterrupted(status.state) ? resultsOf(task) : undefined,
    created_at: createdAt(host, task) / 1000,
    updated_at: status.at / 1000,
    timestamp: host.now() / 1000,
  };
}
