import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  type EventOf,
  type Head,
  isInterrupted,
  isObject,
  NO_HEAD,
  type OperationOf,
  parseTraceparent,
} from "../../../envelope/index.js";
import { requireBodyType } from "../../../transport/content-type.js";
import { streamResponse } from "../../../transport/event-stream.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { NestedJson } from "../../../transport/json.js";
import { jsonResponse } from "../../../transport/response.js";
import {
  type CodecFacts,
  decodeResume,
  decodeRunRequest,
  encodeReply,
  encodeRun,
  isUuid,
  type Opening,
  runText,
  sendOf,
} from "../codec.js";
import type { RunMode, WireRun } from "../wire.js";
import { addressedTo, agentNamed, agentOf, defaultAgent, runFacts } from "./agents.js";
import { type AdmittedRequest, BODY_TYPES, beginCall, oneEvent, taskOf } from "./request-context.js";
import { RunEvents, runForm } from "./run-form.js";

const DELIVERY = { sync: "answer", async: "accepted", stream: "stream" } as const satisfies Record<
  RunMode,
  OperationOf<"send">["delivery"]
>;

/** `POST /runs`. Every run is a task, identified by its id. */
export async function createRun(admitted: AdmittedRequest): Promise<HttpResponse> {
  const { host, request } = admitted;
  requireBodyType(request, BODY_TYPES);
  const body = request.json();
  const { name } = agentNamed(host, nameIn(body) ?? defaultAgent(host).name);
  const call = beginCall(admitted, name);
  const run = decodeRunRequest(body, codecFacts(admitted, call));
  const envelope = addressedTo(host, name, traced(sendOf(run).envelope, request));
  return answerSend(admitted, call, { kind: "send", envelope, delivery: DELIVERY[run.mode], task: "always" }, "created");
}

/** Reads the agent first, because losses are reported to its call. The decoder checks whether it is required. */
function nameIn(body: unknown): string | undefined {
  const name = isObject(body) ? body["agent_name"] : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** `GET /runs/{run_id}`. */
export async function readRun(admitted: AdmittedRequest, runId: string): Promise<HttpResponse> {
  const { event, call } = await findTask(admitted, runId);
  return jsonResponse(200, JSON.stringify(runOf(admitted, call, event)), { "cache-control": "no-store" });
}

/** `POST /runs/{run_id}`: resumes an awaiting run. Any other run is returned unchanged. */
export async function resumeRun(admitted: AdmittedRequest, runId: string): Promise<HttpResponse> {
  const { host, request } = admitted;
  requireBodyType(request, BODY_TYPES);
  const body = request.json();
  const { task } = (await findTask(admitted, runId)).event;
  const call = beginCall(admitted, agentOf(host, task));
  const sessionId = task.contextId === "" ? undefined : task.contextId;
  const { mode, message } = decodeResume(body, { ...codecFacts(admitted, call), contextId: sessionId });
  // A repeated message, because the response was lost: returns the same response.
  const { idempotencyKey: key } = message.context;
  const isRepeated = key !== undefined && task.history.some((earlier) => earlier.context.idempotencyKey === key);
  if (!isInterrupted(task.status.state) && !isRepeated)
    throw new AgentError("task_closed", "the run is not waiting for anything");
  const { context } = traced(message, request);
  const envelope: Envelope = { ...message, context: { ...context, taskId: task.id, sessionId } };
  return answerSend(admitted, call, { kind: "send", envelope, delivery: DELIVERY[mode], task: "always" }, "resumed");
}

/**
 * `POST /runs/{run_id}/cancel`. The response acknowledges the request, as ACP clients expect; the run shows the outcome. A second
 * cancellation is rejected, or returns the run if an upstream of another protocol accepts it.
 */
export async function cancelRun(admitted: AdmittedRequest, runId: string): Promise<HttpResponse> {
  const { host } = admitted;
  const { event: before, call } = await findTask(admitted, runId);
  const event = await oneEvent(host.handler({ kind: "task.cancel", taskId: runId, onlyOnce: true }, call));
  const run = runOf(admitted, call, event);
  const acknowledged: WireRun =
    before.task.status.state === "canceled" ? run : { ...run, status: "cancelling", finished_at: null };
  return jsonResponse(202, JSON.stringify(acknowledged));
}

/** The task of the caller. Tasks of others are reported as not found. */
export async function findTask(
  admitted: AdmittedRequest,
  taskId: string,
): Promise<{ readonly event: EventOf<"task.get">; readonly call: Call }> {
  const { host } = admitted;
  const call = beginCall(admitted, defaultAgent(host).name);
  const event = await oneEvent(host.handler({ kind: "task.get", taskId }, call));
  return { event: { kind: "task", task: taskOf(event) }, call };
}

async function answerSend(
  admitted: AdmittedRequest,
  call: Call,
  operation: OperationOf<"send">,
  opening: Opening,
): Promise<HttpResponse> {
  const { host } = admitted;
  const reply = host.handler(operation, call);
  const headersFor = (event: AgentEvent): Head => (opening === "created" ? runHeader(event) : NO_HEAD);
  if (operation.delivery === "stream") {
    return streamResponse(reply, runForm(new RunEvents(host, call, opening), "awaiting"), host.limits, headersFor);
  }
  const event = await oneEvent(reply);
  const status = operation.delivery === "accepted" ? 202 : 200;
  return jsonResponse(status, runText(runOf(admitted, call, event)), headersFor(event));
}

function runOf({ host }: AdmittedRequest, call: Call, event: AgentEvent): WireRun {
  const facts = runFacts(host, event, call);
  return event.kind === "message" ? encodeReply(event.message, runIdOf(event), facts) : encodeRun(taskOf(event), facts);
}

/** A bare message becomes a run with the id of the message; it cannot be queried later. */
function runIdOf(event: AgentEvent): string {
  return event.kind === "message" ? (event.message.context.taskId ?? event.message.id) : taskOf(event).id;
}

/** A caller that resumes knows the run id. Ids of upstream tasks may not be valid header values. */
function runHeader(event: AgentEvent): Head {
  const id = runIdOf(event);
  return isUuid(id) ? { "run-id": id } : NO_HEAD;
}

/** The trace of the envelope takes precedence over the header. */
function traced(envelope: Envelope, { headers }: HttpRequest): Envelope {
  const { context } = envelope;
  const trace = context.traceId === undefined ? parseTraceparent(headers["traceparent"]) : undefined;
  return trace === undefined ? envelope : { ...envelope, context: { ...context, traceId: trace.traceId } };
}

export function codecFacts({ host, request, caller }: AdmittedRequest, call: Call): CodecFacts {
  return {
    now: host.now(),
    newId: () => host.newId(),
    src: caller.id,
    dst: call.agent,
    partsPerMessage: host.limits.partsPerMessage,
    nested: new NestedJson(host.limits),
    reportLoss: (loss) => call.reportLoss(loss),
    headers: request.headers,
  };
}
