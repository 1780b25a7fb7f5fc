import {
  AgentError,
  type Call,
  type Card,
  type Head,
  type Maybe,
  NO_HEAD,
  type Principal,
  type Via,
} from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { aboutTask, encodeReply, type ReadRequest, readRequest } from "../codec.js";
import { type ErrorForm, errorReply } from "../errors.js";
import type { WireReply } from "../wire.js";
import { checkKey } from "./answer-cache.js";
import type { Answerers } from "./answerers.js";
import { type Outcome, outcomeOf, WorkFailed } from "./answers.js";
import { type Change, type Conversation, type Conversations, isFresh, notFound } from "./conversations.js";
import type { IncomingMessage } from "./incoming-message.js";
import type { AgoraPath } from "./paths.js";
import type { Routines } from "./routines.js";
import { keyOf, type TurnTools, takeTurn } from "./turn.js";
import { ask, isCode, taskNow } from "./work.js";

export interface MessageTools extends TurnTools {
  readonly routines: Routines;
  readonly conversations: Conversations;
  readonly answerers: Answerers;
  /** False if the host has no record store: conversations are then unavailable. */
  hasStore(): boolean;
  /** Throws `not_found`. */
  cardNamed(name: Maybe<string>): Card;
}

const VIA: Via = Object.freeze({ protocol: "agora", version: "0.2", binding: "HTTP" });
const SUCCESS = '{"status":"success"}';

/** Answers a message: a new one, or with an id the next message of a conversation. All errors use the Agora format. */
export async function answerMessage(
  tools: MessageTools,
  request: HttpRequest,
  path: AgoraPath,
  id: Maybe<string>,
): Promise<HttpResponse> {
  let form: ErrorForm = { dialect: tools.settings.dialect, whole: tools.host.koineCallers === true };
  try {
    const caller = await tools.host.admit(request);
    requireJson(request);
    const wire = readRequest(request.json());
    const whole = wire.metadata.koine === 1;
    if (whole) form = { dialect: form.dialect, whole };
    return await answerRead(tools, { request, caller, where: path, wire, id });
  } catch (thrown) {
    const task = thrown instanceof WorkFailed ? thrown.task : undefined;
    return errorReply(callerError(tools.host, thrown), task === undefined ? form : { ...form, task });
  }
}

interface Read {
  readonly request: HttpRequest;
  readonly caller: Principal;
  readonly where: AgoraPath;
  readonly wire: ReadRequest;
  readonly id: Maybe<string>;
}

async function answerRead(tools: MessageTools, read: Read): Promise<HttpResponse> {
  const { wire, where: path, id, caller } = read;
  const { receipt, cancel } = wire.metadata;
  if (cancel !== undefined || receipt !== undefined) return answerTaskRequest(tools, read, tools.cardNamed(path.agent));
  if (id !== undefined)
    return tools.conversations.inTurn(caller.owner, id, read.request.cancel, (conversation, waited) => {
      if (path.agent !== undefined && path.agent !== conversation.agent) throw notFound();
      if (waited && conversation.collects) throw receiptPending();
      return continueConversation(tools, incomingMessage(tools, read, tools.cardNamed(conversation.agent)), conversation);
    });
  const routine = typeof wire.hash === "string" ? await tools.routines.find(wire.hash, path.agent) : undefined;
  return startConversation(tools, incomingMessage(tools, read, tools.cardNamed(path.agent ?? routine?.agent)));
}

function incomingMessage({ host }: MessageTools, { request, caller, wire }: Read, card: Card): IncomingMessage {
  return { request, caller, wire, call: callFor(host, request, caller, card), agent: card.name, conversation: undefined };
}

function callFor(host: Host, request: HttpRequest, caller: Principal, card: Card): Call {
  const { traceparent, tracestate } = request.headers;
  const parameters: Head =
    traceparent === undefined ? NO_HEAD : tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  return host.begin(request, { caller, agent: card.name, via: VIA, parameters });
}

/** The first message. The conversation is opened before the work starts, and closed again if it fails. */
async function startConversation(tools: MessageTools, incoming: IncomingMessage): Promise<HttpResponse> {
  const { conversations } = tools;
  const { wire, caller, agent, call } = incoming;
  const hash = wire.hash ?? null;
  const answerer = await tools.answerers.find(incoming, tools.cardNamed(agent), hash);
  if (!wire.multiround) return replyWith(incoming, await takeTurn(tools, incoming, answerer), undefined);
  const key = keyOf(incoming);
  if (key !== undefined) checkKey(key);
  const { conversation, again } = await conversations.open(caller.owner, {
    agent,
    hash,
    session: wire.metadata.session || undefined,
    key,
  });
  checkHash(conversation, hash);
  // A repeated first message must not overwrite later state of the conversation.
  const opened: Conversation = again ? { ...conversation, taskId: undefined, collects: false, state: undefined } : conversation;
  async function first(): Promise<HttpResponse> {
    const outcome = await takeTurn(tools, { ...incoming, conversation: opened }, answerer);
    if (!again || isFresh(conversation)) await conversations.keep(caller.owner, conversation, changeOf(outcome));
    return replyWith(incoming, outcome, conversation.id);
  }
  try {
    return await (key === undefined ? first() : conversations.inTurn(caller.owner, conversation.id, call.cancel, first));
  } catch (thrown) {
    if (!again) await conversations.close(caller.owner, conversation.id, agent);
    throw thrown;
  }
}

function checkHash(conversation: Conversation, hash: string | null | undefined): void {
  if (hash === undefined || hash === conversation.hash) return;
  throw new AgentError("conflict", "protocolHash differs from that of the conversation; open another conversation", {
    field: "protocolHash",
  });
}

/** The message was sent before its caller could know of the receipt, so it does not collect the result. */
function receiptPending(): AgentError {
  return new AgentError(
    "conflict",
    "an earlier message got a receipt in the meantime; collect its result, then send this message again",
  );
}

/** A further message of a conversation. Its document was determined by the first. */
async function continueConversation(
  tools: MessageTools,
  incoming: IncomingMessage,
  conversation: Conversation,
): Promise<HttpResponse> {
  const { owner } = incoming.caller;
  checkHash(conversation, incoming.wire.hash);
  const further = { ...incoming, conversation };
  const answerer = await tools.answerers.find(further, tools.cardNamed(conversation.agent), conversation.hash);
  try {
    const outcome = await takeTurn(tools, further, answerer);
    await tools.conversations.keep(owner, conversation, { ...changeOf(outcome), answered: answeredBy(incoming, conversation) });
    return replyWith(incoming, outcome, undefined);
  } catch (thrown) {
    // The task it waited for has ended: the next message starts a new one.
    const answered = answeredBy(incoming, conversation);
    if (isOver(thrown)) await tools.conversations.keep(owner, conversation, { taskId: undefined, collects: false, answered });
    throw thrown;
  }
}

function answeredBy(incoming: IncomingMessage, { taskId, collects }: Conversation): Change["answered"] {
  const key = keyOf(incoming);
  return key === undefined || taskId === undefined || collects ? undefined : { key, taskId };
}

function isOver(thrown: unknown): boolean {
  return (
    thrown instanceof WorkFailed || isCode(thrown, "task_closed") || isCode(thrown, "task_not_found") || isCode(thrown, "expired")
  );
}

function changeOf({ open, task, state }: Outcome & Pick<Change, "state">): Change {
  return { taskId: open === undefined ? undefined : task?.id, collects: open === "works", state };
}

/** Koine extension: query a task by its receipt, any number of times, or cancel it. */
async function answerTaskRequest(tools: MessageTools, read: Read, card: Card): Promise<HttpResponse> {
  const { host } = tools;
  const incoming = incomingMessage(tools, read, card);
  const { cancel, receipt } = read.wire.metadata;
  if (cancel === undefined) {
    const event = await taskNow(host, receipt?.id ?? "", incoming.call);
    return replyWith(
      incoming,
      outcomeOf(event, incoming, false, () => host.newId()),
      undefined,
    );
  }
  const event = await ask(host, { kind: "task.cancel", taskId: cancel }, incoming.call);
  if (event.kind !== "task") throw new AgentError("internal", `a ${event.kind} does not answer task.cancel`);
  const body = `The work ${cancel} is ${event.task.status.state}.`;
  const reply: WireReply = { status: "success", body, metadata: { koine: 1, ...aboutTask(event.task, body) } };
  return jsonResponse(200, JSON.stringify(reply));
}

function replyWith(
  { wire, call }: IncomingMessage,
  { message, task, json }: Outcome,
  conversationId: Maybe<string>,
): HttpResponse {
  const whole = wire.metadata.koine === 1;
  const reply = encodeReply(message, { conversationId, whole, json, task }, (loss) => call.reportLoss(loss));
  return jsonResponse(200, JSON.stringify(reply));
}

/** Ends a conversation. An unknown one gets the same answer. */
export async function endConversation(
  tools: MessageTools,
  request: HttpRequest,
  { agent }: AgoraPath,
  id: string,
): Promise<HttpResponse> {
  const { host, conversations, settings } = tools;
  try {
    const caller = await host.admit(request);
    const closed = tools.hasStore() ? await conversations.close(caller.owner, id, agent) : undefined;
    if (closed !== undefined)
      await notifySessionClose(host, callFor(host, request, caller, tools.cardNamed(closed.agent)), closed.session);
    return jsonResponse(200, SUCCESS);
  } catch (thrown) {
    return errorReply(callerError(host, thrown), { dialect: settings.dialect, whole: host.koineCallers === true });
  }
}

/** Notifies the handler, which may hold state for the session. */
async function notifySessionClose(host: Host, call: Call, sessionId: string): Promise<void> {
  try {
    await ask(host, { kind: "session.close", sessionId }, call);
  } catch (thrown) {
    if (!isCode(thrown, "unsupported_method")) throw thrown;
  }
}

function requireJson({ headers }: HttpRequest): void {
  const type = headers["content-type"];
  if (type === undefined || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return;
  throw new AgentError("unsupported_content", `the body must be application/json, not ${JSON.stringify(type.slice(0, 64))}`, {
    field: "content-type",
  });
}
