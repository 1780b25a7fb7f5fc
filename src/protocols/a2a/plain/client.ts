import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cursor,
  type Handler,
  type Maybe,
  type OperationOf,
} from "../../../envelope/index.js";
import { isEventStream } from "../../../transport/body.js";
import { addCallHeaders } from "../../../transport/call-headers.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { jsonBody } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { sseItems } from "../../../transport/sse-items.js";
import { checkPlainStatus } from "../../plain-error.js";
import { PlainStreams } from "../../plain-stream.js";
import { pollInbox } from "../../poll-inbox.js";
import type { Client, ClientContext } from "../../protocol.js";
import { takesPosts } from "../../takes-posts.js";
import { tlsProtection } from "../../tls-protection.js";
import { plainCard } from "./discover.js";
import { decodePlainReply, type PlainReplyFacts, PlainStreamReader } from "./reply.js";
import { encodePlainRequest } from "./request.js";

type Send = OperationOf<"send">;

/** The client of the seed's plain endpoint, `POST /message`. Its streams are resumed by repeating the request. */
export function connectPlain(context: ClientContext): Client {
  const { peer, link } = context;
  const streams = new PlainStreams();
  const handler: Handler = (operation, call) => {
    switch (operation.kind) {
      case "send":
        return operation.delivery === "stream" ? stream(context, streams, operation, call) : unary(context, operation, call);
      case "task.subscribe":
        return streams.resume(call.caller.owner, operation);
      case "ping":
        return ping(context, call);
      case "card":
        if (!operation.extended) return plainCard(link, peer.url, call).then((card) => ({ kind: "card", card }));
        return lacks("card_not_configured", "no extended card");
      case "push.set":
      case "push.get":
      case "push.list":
      case "push.delete":
        return lacks("push_unsupported", "no push notifications");
      case "task.get":
      case "task.list":
      case "task.cancel":
      case "session.close":
        return lacks("unsupported_method", `no ${operation.kind}`);
      default:
        return operation satisfies never;
    }
  };
  return { handler, protection: () => tlsProtection(peer.url), receive: pollInbox(context), close: async () => undefined };
}

function lacks(code: AgentError["code"], what: string): Promise<never> {
  return Promise.reject(new AgentError(code, `the plain endpoint of A2A has ${what}`, { sent: "no" }));
}

async function unary(context: ClientContext, operation: Send, call: Call): Promise<AgentEvent> {
  const response = await context.link.exchange(requestFor(context, operation, call, undefined));
  checkPlainStatus(response);
  return decodePlainReply(jsonBody(response), factsFor(context, operation, call));
}

function stream(context: ClientContext, streams: PlainStreams, operation: Send, call: Call): AsyncIterable<AgentEvent> {
  const facts = factsFor(context, operation, call);
  const { link, limits } = context;
  return streams.start({
    owner: call.caller.owner,
    limits,
    reader: new PlainStreamReader(facts),
    async open(after) {
      const response = await link.exchange(requestFor(context, operation, call, after));
      checkPlainStatus(response);
      if (isEventStream(response.headers["content-type"])) return { items: sseItems(response, limits) };
      return { single: jsonBody(response) };
    },
  });
}

function requestFor(context: ClientContext, operation: Send, call: Call, after: Maybe<Cursor>): HttpRequest {
  reportUnsupported(operation, call);
  const accept = operation.delivery === "stream" ? "text/event-stream, application/json" : "application/json";
  const headers: Record<string, Maybe<string>> = { accept, "content-type": "application/json" };
  addCallHeaders(headers, call);
  if (after !== undefined) headers["last-event-id"] = after;
  const body = JSON.stringify(encodePlainRequest(operation, (loss) => call.reportLoss(loss)));
  return makeRequest({ method: "POST", url: `${context.peer.url}/message`, headers, body, call });
}

/** Reports the options of a send that the endpoint has no member for. */
function reportUnsupported({ delivery, push, outputModes, historyLength, metadata }: Send, call: Call): void {
  if (push !== undefined)
    throw new AgentError("push_unsupported", "the plain endpoint of A2A has no push notifications", { sent: "no" });
  const report = (path: string, reason: string, valueKind = "object"): void =>
    call.reportLoss({ protocol: "a2a", path: `operation.${path}`, valueKind, reason });
  if (delivery === "accepted") report("delivery=accepted", "the plain endpoint answers when the work is done", "string");
  if (outputModes !== undefined) report("outputModes", "the plain form has no member for it");
  if (historyLength !== undefined) report("historyLength", "the plain form has no member for it", "number");
  if (metadata !== undefined) report("metadata", "the plain form has no member for it");
}

function factsFor({ peer, limits, ...ids }: ClientContext, { envelope }: Send, call: Call): PlainReplyFacts {
  return {
    now: ids.now(),
    src: peer.card.name,
    dst: call.caller.id,
    parentId: envelope.id,
    partsPerMessage: limits.partsPerMessage,
    answer: true,
    reportLoss: (loss) => call.reportLoss(loss),
    ids,
    asked: envelope,
  };
}

async function ping({ link, peer }: ClientContext, call: Call): Promise<AgentEvent> {
  if (await takesPosts(link, `${peer.url}/message`, call)) return { kind: "done" };
  throw new AgentError("unavailable", `${peer.url}/message does not take messages`, { sent: "no" });
}
