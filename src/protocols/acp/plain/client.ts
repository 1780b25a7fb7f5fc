import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cursor,
  type ErrorCode,
  type Handler,
  type Maybe,
  type OperationOf,
} from "../../../envelope/index.js";
import { isEventStream } from "../../../transport/body.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { jsonBody } from "../../../transport/peer-answer.js";
import { sseItems } from "../../../transport/sse-items.js";
import { checkPlainStatus } from "../../plain-error.js";
import { PlainStreams } from "../../plain-stream.js";
import { pollInbox } from "../../poll-inbox.js";
import type { Client, ClientContext } from "../../protocol.js";
import { tlsProtection } from "../../tls-protection.js";
import { EVENTS, requestFor } from "../client/ask.js";
import { plainCard } from "./discover.js";
import { decodePlainReply, type PlainReplyFacts, PlainStreamReader } from "./reply.js";
import { encodePlainRequest } from "./request.js";

type Send = OperationOf<"send">;

/** The client of the seed's plain endpoints: `POST /acp/message`, and `GET /acp/status` for jobs. */
export function connectPlain(context: ClientContext): Client {
  const { peer } = context;
  const streams = new PlainStreams();
  const handler: Handler = (operation, call) => {
    switch (operation.kind) {
      case "send":
        return operation.delivery === "stream" ? stream(context, streams, operation, call) : unary(context, operation, call);
      case "task.get":
        return job(context, operation, call);
      case "task.subscribe":
        return streams.resume(call.caller.owner, operation);
      case "ping":
        return card(context, call).then(() => ({ kind: "done" }));
      case "card":
        return operation.extended ? lacks("card_not_configured", "no extended card") : card(context, call);
      case "push.set":
      case "push.get":
      case "push.list":
      case "push.delete":
        return lacks("push_unsupported", "no push notifications");
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

function lacks(code: ErrorCode, what: string): Promise<never> {
  return Promise.reject(new AgentError(code, `the plain form of ACP has ${what}`, { sent: "no" }));
}

async function unary(context: ClientContext, operation: Send, call: Call): Promise<AgentEvent> {
  const response = await context.link.exchange(messageFor(context, operation, call, undefined));
  checkPlainStatus(response);
  return decodePlainReply(jsonBody(response), factsFor(context, operation, call));
}

function stream(context: ClientContext, streams: PlainStreams, operation: Send, call: Call): AsyncIterable<AgentEvent> {
  const { link, limits } = context;
  return streams.start({
    owner: call.caller.owner,
    limits,
    reader: new PlainStreamReader(factsFor(context, operation, call)),
    async open(after) {
      const response = await link.exchange(messageFor(context, operation, call, after));
      checkPlainStatus(response);
      return isEventStream(response.headers["content-type"])
        ? { items: sseItems(response, limits) }
        : { single: jsonBody(response) };
    },
  });
}

function messageFor({ peer }: ClientContext, operation: Send, call: Call, after: Maybe<Cursor>): HttpRequest {
  reportUnsupported(operation, call);
  const body = encodePlainRequest(operation, peer.card.name, (loss) => call.reportLoss(loss));
  return requestFor(
    {
      method: "POST",
      url: `${peer.url}/acp/message`,
      body: JSON.stringify(body),
      accept: operation.delivery === "stream" ? EVENTS : "application/json",
      headers: after === undefined ? undefined : { "last-event-id": after },
    },
    call,
  );
}

/** Reports the options of a send that the endpoint has no member for. */
function reportUnsupported({ push, outputModes, historyLength, metadata }: Send, call: Call): void {
  if (push !== undefined)
    throw new AgentError("push_unsupported", "the plain form of ACP has no push notifications", { sent: "no" });
  const report = (path: string, valueKind: string): void =>
    call.reportLoss({ protocol: "acp", path: `operation.${path}`, valueKind, reason: "the plain form has no member for it" });
  if (outputModes !== undefined) report("outputModes", "object");
  if (historyLength !== undefined) report("historyLength", "number");
  if (metadata !== undefined) report("metadata", "object");
}

/** The state of a job, and its results once it has ended. */
async function job(context: ClientContext, { taskId }: OperationOf<"task.get">, call: Call): Promise<AgentEvent> {
  const { link, peer } = context;
  const url = `${peer.url}/acp/status?run_id=${encodeURIComponent(taskId)}`;
  const response = await link.exchange(requestFor({ method: "GET", url }, call));
  if (response.status === 404) throw new AgentError("task_not_found", `the peer has no run ${taskId}`, { status: 404 });
  checkPlainStatus(response);
  const event = decodePlainReply(jsonBody(response), factsFor(context, undefined, call));
  if (event.kind === "task" && event.task.id === taskId) return event;
  // Reference agents answer with the health of the agent, whatever is asked.
  throw new AgentError("unsupported_method", "this peer does not report the status of jobs");
}

function factsFor({ peer, ...ids }: ClientContext, operation: Maybe<Send>, call: Call): PlainReplyFacts {
  return { ids, src: peer.card.name, dst: call.caller.id, asked: operation?.envelope };
}

async function card({ link, peer }: ClientContext, call: Call): Promise<AgentEvent> {
  const found = await plainCard(link, peer.url, call);
  if (found === undefined) throw new AgentError("unavailable", `${peer.url}/acp/capabilities names no agent`, { sent: "no" });
  return { kind: "card", card: found };
}
