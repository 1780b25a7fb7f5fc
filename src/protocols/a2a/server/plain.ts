import {
  AgentError,
  type AgentEvent,
  artifactText,
  type Card,
  type Cursor,
  isObject,
  isPromise,
  type JsonObject,
  type Maybe,
  type Operation,
  textOf,
  type Via,
  versionProblem,
} from "../../../envelope/index.js";
import { streamResponse, wantsEventsFor } from "../../../transport/event-stream.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { encodeSse } from "../../../transport/sse.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { v1 } from "../codec/codec-1.0.js";
import { errorRow } from "../error-tables.js";
import { PLAIN } from "../plain/discover.js";
import { decodePlainRequest } from "../plain/request.js";
import { requireJson } from "./content-type.js";
import { callParameters } from "./extensions.js";

/**
 * The seed's plain endpoint (G.2, G.7): `POST /message` with `{id, params: {message, context, routing}}`. The reply echoes
 * `id` and carries `events`, each with its text in `data.text`; with `Accept: text/event-stream` it is one `data:` line per event.
 */
/** The version on the cards of the seed's agents. */
const SEED_VERSION = "1.0.0";
const VIA: Via = Object.freeze({ protocol: "a2a", ...PLAIN });

export async function answerPlain(host: Host, card: Card, request: HttpRequest): Promise<HttpResponse> {
  let id: Maybe<JsonObject[string]> = null;
  try {
    const admitted = host.admit(request);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    requireJson(request);
    const body = request.json();
    id = isObject(body) ? (body["id"] ?? null) : null;
    const call = host.begin(request, {
      caller,
      agent: card.name,
      via: VIA,
      parameters: callParameters(request, card, undefined),
    });
    const envelope = decodePlainRequest(body, { now: host.now(), newId: () => host.newId(), src: caller.id, dst: card.name });
    const misfit = versionProblem(SEED_VERSION, envelope.context);
    if (misfit !== undefined) throw misfit;
    const streaming = wantsEventsFor(request, envelope);
    // The cursor is opaque here; the task runtime validates it.
    const after = streaming ? ((request.headers["last-event-id"] || undefined) as Maybe<Cursor>) : undefined;
    const operation: Operation = { kind: "send", envelope, delivery: streaming ? "stream" : "answer", task: "auto", after };
    const reply = host.handler(operation, call);
    if (streaming) {
      return await streamResponse(
        reply,
        {
          event: (event) => JSON.stringify(plainEvent(event)),
          failure: (error) => encodeSse(JSON.stringify(plainError(id, error)), undefined, "error"),
        },
        host.limits,
      );
    }
    if (!isPromise(reply)) throw new AgentError("internal", "expected a single event, got a stream");
    return jsonResponse(200, JSON.stringify({ id, events: plainEvents(await reply) }));
  } catch (thrown) {
    const error = callerError(host, thrown);
    return jsonResponse(errorRow(error.code).http["1.0.1"], JSON.stringify(plainError(id, error)), errorHeaders(error));
  }
}

function plainEvents(event: AgentEvent): readonly JsonObject[] {
  if (event.kind !== "task") return [plainEvent(event)];
  const { task } = event;
  const artifacts = task.artifacts.map((artifact) =>
    plainEvent({ kind: "artifact", taskId: task.id, contextId: task.contextId, artifact, append: false, last: true }),
  );
  return [...artifacts, plainEvent({ kind: "status", taskId: task.id, contextId: task.contextId, status: task.status })];
}

const noLoss = (): void => undefined;

/** The text in the seed's member, and the complete event in A2A 1.0 form. */
function plainEvent(event: AgentEvent): JsonObject {
  return { type: event.kind, data: { text: textIn(event), ...v1.encodeStreamItem(event, noLoss) } };
}

function textIn(event: AgentEvent): string {
  if (event.kind === "message") return textOf(event.message.content);
  if (event.kind === "artifact") return artifactText(event.artifact.parts);
  return event.kind === "status" ? textOf(event.status.message?.content ?? []) : "";
}

function plainError(id: Maybe<JsonObject[string]>, error: AgentError): JsonObject {
  return {
    id,
    error: {
      code: error.face,
      reason: error.code,
      message: error.message,
      ...(error.facts.field === undefined ? {} : { field: error.facts.field }),
    },
  };
}
