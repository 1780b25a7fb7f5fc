import {
  type AgentError,
  type AgentEvent,
  type Card,
  type Cursor,
  type Envelope,
  isObject,
  type JsonObject,
  type Maybe,
  type Reply,
  versionProblem,
} from "../../../envelope/index.js";
import { requireBodyType } from "../../../transport/content-type.js";
import { type StreamForm, streamResponse, wantsEvents } from "../../../transport/event-stream.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { readObject } from "../../../transport/fields.js";
import { jsonResponse } from "../../../transport/response.js";
import { encodeSse } from "../../../transport/sse.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { agentNamed, defaultAgent } from "./agents.js";
import { answeredTask, plainError, refusePlain, resultsOf, standing, streamItems } from "./plain-reply.js";
import { decodePlain, type PlainDelivery, type PlainHead, readDelivery, readHead } from "./plain-request.js";
import { PLAIN_VERSION, showHealth } from "./plain-status.js";
import {
  type AdmittedRequest,
  admit,
  BODY_TYPES,
  beginCall,
  oneEvent,
  type RequestContext,
  VIA_PLAIN,
} from "./request-context.js";
import { waitsForCaller } from "./run-form.js";
import { codecFacts } from "./runs.js";

/**
 * The seed's plain endpoint (G.2, G.7): `POST /acp/message`. `correlation_id` of the reply names the request. Accepted work is
 * queried at `/acp/status?run_id=`.
 */
export async function answerMessage(context: RequestContext): Promise<HttpResponse> {
  const { request } = context;
  let correlationId: Maybe<string>;
  try {
    const admitted = await admit(context);
    requireBodyType(request, BODY_TYPES);
    const body = request.json();
    correlationId = correlationIn(body);
    return await answerBody(admitted, readObject(body, "body"));
  } catch (thrown) {
    return refusePlain(callerError(context.host, thrown), correlationId);
  }
}

/** The ids for an error reply, as far as they can be read. */
function correlationIn(body: unknown): Maybe<string> {
  if (!isObject(body)) return undefined;
  const found = body["correlation_id"] ?? body["id"];
  return typeof found === "string" ? found : undefined;
}

async function answerBody(admitted: AdmittedRequest, body: JsonObject): Promise<HttpResponse> {
  const { host, request, caller } = admitted;
  const head = readHead(body, () => host.newId());
  const card = head.receiver === undefined ? defaultAgent(host) : agentNamed(host, head.receiver, "receiver");
  const opening = replyHead(host, card, head, caller.id);
  if (head.type === "heartbeat") return showHealth(card, host, opening);
  const call = beginCall(admitted, card.name, VIA_PLAIN);
  const envelope = decodePlain(body, head, codecFacts(admitted, call));
  const misfit = versionProblem(PLAIN_VERSION, envelope.context);
  if (misfit !== undefined) throw misfit;
  const delivery = readDelivery(body, head, wantsEvents(request));
  // The cursor is opaque here; the task runtime validates it.
  const after = delivery === "stream" ? ((request.headers["last-event-id"] || undefined) as Maybe<Cursor>) : undefined;
  const reply = host.handler({ kind: "send", envelope, delivery, task: "always", after }, call);
  if (delivery === "stream") return streamResponse(reply, plainForm(host, head.correlationId), host.limits);
  return wholeReply(opening, envelope, delivery, reply);
}

/** The sender, receiver and content of a reply. */
function replyHead(host: Host, card: Card, { sender, correlationId }: PlainHead, caller: string): JsonObject {
  return {
    id: host.newId(),
    type: "response",
    sender: card.name,
    receiver: sender ?? caller,
    correlation_id: correlationId,
    timestamp: host.now() / 1000,
  };
}

async function wholeReply(
  opening: JsonObject,
  { context }: Envelope,
  delivery: Exclude<PlainDelivery, "stream">,
  reply: Reply,
): Promise<HttpResponse> {
  const task = answeredTask(await oneEvent(reply));
  const about = { run_id: task.id, session_id: task.contextId, metadata: { trace_id: context.traceId } };
  if (delivery === "accepted")
    return jsonResponse(202, JSON.stringify({ ...opening, status: "accepted", job_id: task.id, ...about }));
  return jsonResponse(200, JSON.stringify({ ...opening, results: resultsOf(task), ...standing(task.status), ...about }));
}

function plainForm(host: Host, correlationId: string): StreamForm {
  return {
    event: (event: AgentEvent) =>
      streamItems(event, host.now()).map((item) => JSON.stringify({ ...item, correlation_id: correlationId })),
    failure: (error: AgentError) => encodeSse(JSON.stringify({ type: "stream_error", ...plainError(error, correlationId) })),
    endsAfter: waitsForCaller,
  };
}
