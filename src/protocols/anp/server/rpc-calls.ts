import {
  AgentError,
  type AgentEvent,
  answerText,
  isPromise,
  type JsonObject,
  type Maybe,
  type Operation,
  textOf,
} from "../../../envelope/index.js";
import { streamResponse, wantsEvents } from "../../../transport/event-stream.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { readObject } from "../../../transport/fields.js";
import { encodeRpcError, encodeRpcResult, type RpcId, readRpcRequest } from "../../../transport/json-rpc.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { encodeSse } from "../../../transport/sse.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { encodeEvent, streams, writeError, writeEvent, writeResult } from "../codec.js";
import { errorStatus } from "../errors.js";
import { ASK, PROTOCOL, VERSION } from "../wire.js";
import type { CallerProofs, ProvenCaller } from "./caller-proof.js";
import type { Messaging } from "./messaging.js";
import { agentNamed, decodeFactsOf, operationFor } from "./methods.js";

const VIA = { protocol: PROTOCOL, version: VERSION, binding: "JSONRPC" } as const;
/** The id of an answer to a request without a readable one. */
const NO_ID = null;

/** Answers JSON-RPC requests by HTTP. A stream is server-sent events, each with one message. */
export class RpcCalls {
  readonly #host: Host;
  readonly #proofs: CallerProofs;
  readonly #messaging: Messaging;

  constructor(host: Host, proofs: CallerProofs, messaging: Messaging) {
    this.#host = host;
    this.#proofs = proofs;
    this.#messaging = messaging;
  }

  /** `agent` undefined: the default one. */
  async answer(request: HttpRequest, agent: Maybe<string>): Promise<HttpResponse> {
    let id: RpcId = NO_ID;
    let proven: Maybe<ProvenCaller>;
    try {
      proven = await this.#proofs.callerOf(request);
      const rpc = readRpcRequest(request);
      if (rpc.kind === "fault") {
        const { code, message } = rpc;
        return jsonResponse(200, encodeRpcError(rpc.id, { code, message }), proven.head);
      }
      id = rpc.id ?? NO_ID;
      return await this.#call(request, { id, method: rpc.method, params: readObject(rpc.params ?? {}, "params") }, proven, agent);
    } catch (thrown) {
      const error = this.#proofs.challenged(request, callerError(this.#host, thrown));
      reportRefusal(this.#host, request, error);
      return jsonResponse(errorStatus(error), writeError(id, error), { ...errorHeaders(error), ...proven?.head });
    }
  }

  async #call(
    request: HttpRequest,
    { id, method, params }: { readonly id: RpcId; readonly method: string; readonly params: JsonObject },
    { caller, proved, head }: ProvenCaller,
    name: Maybe<string>,
  ): Promise<HttpResponse> {
    const host = this.#host;
    const agent = agentNamed(host, name);
    if (this.#messaging.has(method)) {
      const result = await this.#messaging.answer(request, { id, method, params }, { caller, proved, head }, agent);
      return jsonResponse(200, encodeRpcResult(id, result), head);
    }
    const operation = operationFor(method, params, decodeFactsOf(host, caller, agent));
    const call = host.begin(request, { caller, agent: agent.name, via: VIA, proved, parameters: traceOf(request) });
    const reply = host.handler(operation, call);
    if (isPromise(reply) || !streams(operation)) {
      const event = isPromise(reply) ? await reply : await lastOf(reply);
      return jsonResponse(200, writeResult(id, resultOf(method, operation, event)), head);
    }
    if (!wantsEvents(request)) {
      void reply[Symbol.asyncIterator]().return?.();
      throw new AgentError("invalid_message", "a stream needs the header accept: text/event-stream", { field: "accept" });
    }
    return streamResponse(
      reply,
      { event: (event) => writeEvent(id, encodeEvent(event)), failure: (error) => encodeSse(writeError(id, error)) },
      host.limits,
      head,
    );
  }
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429, 503]);

/** With the reason of ANP, which the status alone does not say. */
function reportRefusal(host: Host, request: HttpRequest, error: AgentError): void {
  if (!REFUSALS.has(errorStatus(error))) return;
  const reason = error.facts.detail?.["reason"] ?? error.code;
  host.refused(request, new AgentError(error.code, `request refused (${reason}): ${error.message}`, { detail: { reason } }));
}

/** The result of `ask` is a text; that of every other method an event. */
function resultOf(method: string, operation: Operation, event: AgentEvent): JsonObject {
  if (method !== ASK || operation.kind !== "send") return encodeEvent(event);
  if (event.kind === "message") return { text: textOf(event.message.content) };
  return event.kind === "task" ? { text: answerText(event.task), taskId: event.task.id } : encodeEvent(event);
}

async function lastOf(events: AsyncIterable<AgentEvent>): Promise<AgentEvent> {
  let last: Maybe<AgentEvent>;
  for await (const event of events) last = event;
  if (last === undefined) throw new AgentError("internal", "the agent answered with nothing");
  return last;
}

function traceOf({ headers: { traceparent, tracestate } }: HttpRequest): Maybe<{ readonly [name: string]: string }> {
  if (traceparent === undefined) return undefined;
  return { traceparent, ...(tracestate === undefined ? undefined : { tracestate }) };
}
