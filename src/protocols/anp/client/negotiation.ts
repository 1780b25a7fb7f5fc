import {
  AgentError,
  type AgentEvent,
  type Call,
  isPromise,
  type JsonObject,
  type Maybe,
  type Operation,
  type OperationOf,
  type Part,
  type Reply,
} from "../../../envelope/index.js";
import { blame, optional, readObject, readString } from "../../../transport/fields.js";
import { encodeRpcRequest, parseRpcResponse } from "../../../transport/json-rpc.js";
import { httpAddress } from "../../../transport/request.js";
import type { Client, ClientContext } from "../../protocol.js";
import { TRANSPORT_PROTECTED, usualType } from "../codec/direct.js";
import { errorFromRpc } from "../errors.js";
import { readSettings } from "../settings.js";
import { MESSAGING, PROTOCOL } from "../wire.js";
import { answerIn } from "./answers.js";
import { SignedRequests } from "./signed-requests.js";

type Mode = "direct_structured_call" | "direct_message" | "stream" | "async_task";

/** Agreements of one connection that are kept, and how long at most. */
const MAX_AGREEMENTS = 16;
const MAX_VALID_MS = 3_600_000;
const META = { profile: "anp.meta.negotiation.v1", security_profile: TRANSPORT_PROTECTED } as const;

/**
 * A message with a `protocol_hint` is sent after the peer agreed to how it is sent (ANP-06, structured selection): by one request, before
 * the first such message, for as long as the peer says that its answer holds. A message without a hint negotiates nothing.
 */
export function negotiatingFirst(client: Client, context: ClientContext, unary: Mode): Client {
  const requests = new SignedRequests(context, readSettings(context.settings(PROTOCOL)).authentication);
  const endpoint = endpointOf(context.peer.url);
  /** By execution mode and content types: until when they are agreed. */
  const agreed = new Map<string, number>();

  async function negotiate({ envelope, delivery }: OperationOf<"send">, call: Call): Promise<void> {
    const mode: Mode =
      unary === "direct_message" ? unary : delivery === "stream" ? "stream" : delivery === "accepted" ? "async_task" : unary;
    const types = [...new Set(envelope.content.map(typeOf))];
    const key = JSON.stringify([mode, types]);
    if (context.now() < (agreed.get(key) ?? 0)) return;
    const id = context.newId();
    const body: JsonObject = {
      negotiation_id: id,
      mode: "structured_selection",
      // Not the intent of the message: this request is not sealed, even if the message is.
      intent: { name: "message" },
      callerCapabilities: {
        supportedSecurityProfiles: [TRANSPORT_PROTECTED],
        supportedContentTypes: types,
        supportedExecutionModes: [mode],
      },
    };
    const question = encodeRpcRequest(id, MESSAGING.negotiate, { meta: META, body });
    const response = await requests.send({ method: "POST", url: endpoint, body: question }, call);
    try {
      const answer = parseRpcResponse(answerIn(response), id);
      if (answer.kind === "error") throw errorFromRpc(answer.error, response.status, response.headers);
      keep(key, checkedAgreement(answer.result, mode));
    } catch (thrown) {
      const error = blame(thrown, "bad_peer");
      if (error.code !== "unsupported_method") throw error;
      call.reportLoss({
        protocol: PROTOCOL,
        path: "message.meta.protocolHint",
        valueKind: "string",
        reason: "the peer does not negotiate; the message is sent as its description says",
      });
    }
  }

  function keep(key: string, validUntil: Maybe<number>): void {
    const latest = context.now() + MAX_VALID_MS;
    agreed.set(key, Math.min(validUntil ?? 0, latest));
    const [oldest] = agreed.keys();
    if (agreed.size > MAX_AGREEMENTS && oldest !== undefined) agreed.delete(oldest);
  }

  /** Until when it holds. Throws if the peer rejects the message, or selects what this connection is not. */
  function checkedAgreement(result: unknown, mode: Mode): Maybe<number> {
    const agreement = readObject(result, "result");
    if (agreement["status"] !== "accepted") throw rejected(agreement);
    const selected = readObject(agreement["selected"], "result.selected");
    const execution = readObject(agreement["execution"], "result.execution");
    const url = optional(selected["url"], "result.selected.url", readString);
    if (execution["mode"] !== mode || selected["securityProfile"] !== TRANSPORT_PROTECTED)
      throw new AgentError("bad_peer", "the peer selected what it was not offered", { sent: "no" });
    if (url !== undefined && endpointOf(new URL(url, endpoint).href) !== endpoint)
      throw unmet("negotiation_elsewhere", `the peer selected ${url.slice(0, 200)}, which is not the interface in use`);
    const until = optional(agreement["validUntil"], "result.validUntil", readString);
    return until === undefined || Number.isNaN(Date.parse(until)) ? undefined : Date.parse(until);
  }

  function handler(operation: Operation, call: Call): Reply {
    if (operation.kind !== "send" || call.hops > 0 || (operation.envelope.meta.protocolHint ?? "") === "")
      return client.handler(operation, call);
    const ready = negotiate(operation, call);
    const sent = (): Reply => client.handler(operation, call);
    return operation.delivery === "stream" ? streamAfter(ready, sent) : answerAfter(ready, sent);
  }

  return { ...client, handler };
}

async function answerAfter(ready: Promise<void>, sent: () => Reply): Promise<AgentEvent> {
  await ready;
  const reply = sent();
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "a message that is not streamed was answered by a stream");
}

async function* streamAfter(ready: Promise<void>, sent: () => Reply): AsyncGenerator<AgentEvent, void, void> {
  await ready;
  const reply = sent();
  if (isPromise(reply)) yield await reply;
  else yield* reply;
}

function rejected({ status, reason }: JsonObject): AgentError {
  const why = typeof reason === "string" ? `: ${reason.slice(0, 500)}` : "";
  return status === "needs_more_information"
    ? unmet("negotiation_incomplete", `the peer wants to know more before it takes the message${why}`)
    : unmet("negotiation_rejected", `the peer does not take the message as its protocol_hint asks${why}`);
}

function unmet(reason: string, message: string): AgentError {
  return new AgentError("unsupported", message, { field: "message.meta.protocolHint", sent: "no", detail: { reason } });
}

/** A session and requests of one agent have the same address. */
function endpointOf(url: string): string {
  const { origin, pathname } = new URL(httpAddress(url));
  return origin + pathname;
}

function typeOf(part: Part): string {
  return part.mediaType ?? usualType(part);
}
