import {
  AgentError,
  type AgentEvent,
  artifactText,
  type Card,
  type Context,
  dataPart,
  type Envelope,
  isObject,
  isPromise,
  type JsonObject,
  type Maybe,
  type Operation,
  type Part,
  textOf,
  textPart,
  type Via,
} from "../../../envelope/index.js";
import { streamResponse, wantsEvents } from "../../../transport/event-stream.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { optional, readInteger, readObject, readString, readStrings } from "../../../transport/fields.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { encodeSse } from "../../../transport/sse.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { v1 } from "../codec/codec-1.0.js";
import { errorRow } from "../error-tables.js";
import { requireJson } from "./content-type.js";
import { callParameters } from "./extensions.js";

/**
 * The seed's plain endpoint (G.2, G.7): `POST /message` with `{id, params: {message, context, routing}}`. The reply echoes
 * `id` and carries `events`, each with its text in `data.text`; with `Accept: text/event-stream` it is one `data:` line per event.
 */
const VIA: Via = Object.freeze({ protocol: "a2a", version: "plain", binding: "PLAIN" });

export async function answerPlain(host: Host, card: Card, request: HttpRequest): Promise<HttpResponse> {
  let id: Maybe<JsonObject[string]> = null;
  try {
    const admitted = host.admit(request);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    requireJson(request);
    const body = request.json();
    id = isObject(body) ? (body["id"] ?? null) : null;
    const streaming = wantsEvents(request);
    const call = host.begin(request, {
      caller,
      agent: card.name,
      via: VIA,
      parameters: callParameters(request, card, undefined),
    });
    const envelope = decodePlain(body, { now: host.now(), newId: () => host.newId(), src: caller.id, dst: card.name });
    const operation: Operation = { kind: "send", envelope, delivery: streaming ? "stream" : "answer", task: "auto" };
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

interface PlainFacts {
  readonly now: number;
  newId(): string;
  readonly src: string;
  readonly dst: string;
}

/** Table 8/12 of the seed, field by field. */
function decodePlain(body: unknown, facts: PlainFacts): Envelope {
  const wire = readObject(body, "body");
  const params = readObject(wire["params"], "params");
  const routing = optional(params["routing"], "params.routing", readObject);
  const context = decodeContext(optional(params["context"], "params.context", readObject));
  const meta = optional(params["meta"], "params.meta", readObject);
  return {
    id: optional(wire["id"], "id", readString) ?? facts.newId(),
    ts: facts.now / 1000,
    src: optional(routing?.["source"], "params.routing.source", readString) ?? facts.src,
    dst: optional(routing?.["destination"], "params.routing.destination", readString) ?? facts.dst,
    intent: "",
    role: "user",
    content: decodeContent(params["message"]),
    context,
    meta: {
      protocolHint: optional(meta?.["protocol_hint"], "params.meta.protocol_hint", readString),
      retryCount: optional(meta?.["retry_count"], "params.meta.retry_count", readInteger),
    },
  };
}

function decodeContext(wire: Maybe<JsonObject>): Context {
  if (wire === undefined) return {};
  const text = (name: string): Maybe<string> => optional(wire[name], `params.context.${name}`, readString);
  const whole = (name: string): Maybe<number> => optional(wire[name], `params.context.${name}`, readInteger);
  const list = (name: string): Maybe<readonly string[]> => optional(wire[name], `params.context.${name}`, readStrings);
  return {
    traceId: text("trace_id"),
    parentId: text("parent_id"),
    idempotencyKey: text("idempotency_key"),
    sessionId: text("session_id"),
    taskId: text("task_id"),
    priority: whole("priority"),
    ttlMs: whole("ttl_ms"),
    artifactRefs: list("artifact_refs"),
    tags: list("tags"),
  };
}

/** `{"text": …}` is one text part; any other object is one data part. */
function decodeContent(value: unknown): readonly Part[] {
  const wire = readObject(value, "params.message");
  const keys = Object.keys(wire);
  if (keys.length === 1 && keys[0] === "text") return [textPart(readString(wire["text"], "params.message.text"))];
  if (keys.length === 0) throw new AgentError("invalid_message", "params.message is empty", { field: "params.message" });
  return [dataPart(wire)];
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
