import {
  AgentError,
  type AgentEvent,
  type Call,
  CancelSource,
  type Handler,
  type Loss,
  type Maybe,
  type Operation,
  type OperationOf,
  startCall,
} from "../../envelope/index.js";
import type { Client, ClientContext } from "../protocol.js";
import { takesPosts } from "../takes-posts.js";
import { tlsProtection } from "../tls-protection.js";
import { answerTo, taskAbout } from "./client/answer.js";
import { Conversations } from "./client/conversations.js";
import { type ClientDocument, ClientDocuments } from "./client/documents.js";
import { fetchCard } from "./client/fetch-card.js";
import { isKoinePeer } from "./client/koine-peer.js";
import { PLAIN } from "./client/plain.js";
import { endConversation, post, type ReceivedReply, type Wire } from "./client/post.js";
import { type TaskConversation, TaskConversations } from "./client/task-conversations.js";
import { collected, taskRequest } from "./client/task-request.js";
import { encodeRequest, type RequestForm } from "./codec.js";
import type { ResolvedSenderOptions, SenderOptions } from "./sender/options.js";
import type { Sender } from "./sender/sender.js";
import type { WireRequest } from "./wire.js";

/** How long a client that is closed waits for the peer to end its conversations. */
const END_MS = 2_000;

export interface ClientOptions {
  /** Document texts that the client knows, in addition to those on the card of the peer. */
  readonly documents?: readonly string[];
  /** Moves repeated tasks from natural language to documents, and from models to routines. Default: off. */
  readonly sender?: SenderOptions;
}

/** The client side: one request per message, never retried. */
export function connectWith(options: ClientOptions = {}): (context: ClientContext) => Client {
  return (context) => {
    const { link, peer } = context;
    const wire: Wire = { link, peer, ids: context, isKoine: isKoinePeer(peer.card), isPlain: peer.binding === PLAIN.binding };
    const session: Session = {
      wire,
      conversations: new Conversations(),
      taskConversations: new TaskConversations(),
      documents: new ClientDocuments(peer.card, options.documents ?? []),
    };
    const sender =
      options.sender === undefined ? undefined : loadSender(wire, session.documents, senderOptions(options.sender, context));
    const handler: Handler = (operation, call) => {
      if (operation.kind !== "send") return perform(session, operation, call);
      reportUnsupportedOptions(wire, operation, call);
      if (sender === undefined) return send(session, operation, call);
      return sender.then((loaded) => (loaded.takes(operation) ? loaded.run(operation, call) : send(session, operation, call)));
    };
    return { handler, protection: () => tlsProtection(peer.url), close: () => endAll(session) };
  };
}

/** What the sender does not bring itself comes from the connection. */
function senderOptions(options: SenderOptions, context: ClientContext): ResolvedSenderOptions {
  const model = options.model ?? context.model;
  return { ...options, records: options.records ?? context.records("agora"), ...(model === undefined ? {} : { model }) };
}

/** Loaded only for clients that configure a sender. */
async function loadSender(wire: Wire, documents: ClientDocuments, options: ResolvedSenderOptions): Promise<Sender> {
  const { senderFor } = await import("./sender/sender.js");
  return senderFor(wire, documents, options);
}

interface Session {
  readonly wire: Wire;
  readonly conversations: Conversations;
  readonly taskConversations: TaskConversations;
  readonly documents: ClientDocuments;
}

async function perform(session: Session, operation: Exclude<Operation, OperationOf<"send">>, call: Call): Promise<AgentEvent> {
  const { wire } = session;
  switch (operation.kind) {
    case "task.get":
      requireReceipts(wire, operation);
      return taskEvent(wire, operation.taskId, await taskRequest(wire, { receipt: { id: operation.taskId } }, call), call);
    case "task.cancel":
      requireReceipts(wire, operation);
      return taskEvent(wire, operation.taskId, await taskRequest(wire, { cancel: operation.taskId }, call), call);
    case "session.close":
      return close(session, operation.sessionId, call);
    case "ping":
      await ping(wire, call);
      return { kind: "done" };
    case "card":
      return card(wire, operation, call);
    default:
      throw lacking(operation);
  }
}

/** Sends a single message, the next message of a session, or a message to the task of a conversation. */
function send(session: Session, operation: OperationOf<"send">, call: Call): Promise<AgentEvent> {
  const { intent, context } = operation.envelope;
  const conversation = session.taskConversations.of(call.caller.owner, context.taskId);
  if (conversation !== undefined) return sendToTask(session, operation, conversation, call);
  const document = session.documents.find(intent);
  // Stays synchronous where possible: a message is sent even if the link is closed right after the call.
  return document instanceof Promise
    ? document.then((found) => sendInSession(session, operation, found, call))
    : sendInSession(session, operation, document, call);
}

async function sendInSession(
  session: Session,
  operation: OperationOf<"send">,
  document: Document,
  call: Call,
): Promise<AgentEvent> {
  const { wire, conversations, taskConversations } = session;
  const { sessionId } = operation.envelope.context;
  const { cancel, caller } = call;
  const message = requestFor(wire, operation, { document, multiround: sessionId !== undefined }, call);
  async function one(conversationId: Maybe<string>): Promise<ReceivedReply> {
    const received = await post(wire, conversationId, message, call);
    const id = conversationId ?? received.reply.conversationId;
    if (id !== undefined) taskConversations.note(caller.owner, received, { conversationId: id, document });
    return received;
  }
  if (sessionId === undefined) return answered(wire, operation, await one(undefined), call);
  // Also if this call is cancelled. The peer ends what it is not asked to end by itself.
  const end = (id: string): void =>
    wire.isPlain ? undefined : void endConversation(wire, id, call.derive({ cancel: new CancelSource() })).catch(() => undefined);
  if (!conversations.has(caller.owner, sessionId) && conversations.wasEnded(caller.owner, sessionId))
    reportSessionLoss(call, "the conversation was ended because others were used since; the peer has forgotten it");
  const reply = await conversations.send({ owner: caller.owner, sessionId, hash: document?.hash ?? "", cancel, send: one, end });
  if (!conversations.has(caller.owner, sessionId) && reply.error === undefined)
    reportSessionLoss(call, "the peer opens no conversations; every message is independent");
  else if (!wire.isKoine) reportSessionLoss(call, "the peer assigns conversation ids itself");
  return answered(wire, operation, reply, call);
}

/** Sends into the conversation of the task. If that has expired, addresses the task without a conversation. */
async function sendToTask(
  session: Session,
  operation: OperationOf<"send">,
  conversation: TaskConversation,
  call: Call,
): Promise<AgentEvent> {
  const { wire, taskConversations } = session;
  const { document, conversationId } = conversation;
  const { owner } = call.caller;
  const received = await post(wire, conversationId, requestFor(wire, operation, { document, multiround: true }, call), call);
  if (received.error?.code !== "session_expired") {
    taskConversations.note(owner, received, conversation);
    return answered(wire, operation, received, call);
  }
  taskConversations.forget(owner, operation.envelope.context.taskId ?? "");
  const alone = requestFor(wire, operation, { document: undefined, multiround: false }, call);
  return answered(wire, operation, await post(wire, undefined, alone, call), call);
}

type Document = Maybe<ClientDocument>;

function requestFor(
  wire: Wire,
  { envelope, delivery }: OperationOf<"send">,
  { document, multiround }: { readonly document: Document; readonly multiround: boolean },
  call: Call,
): WireRequest {
  const form: RequestForm = {
    hash: document?.hash ?? null,
    sources: document?.sources ?? NO_SOURCES,
    multiround,
    json: document !== undefined && envelope.content[0]?.kind === "data",
    whole: wire.isKoine,
    prefer: delivery === "accepted" && wire.isKoine ? "receipt" : undefined,
    plain: wire.isPlain,
  };
  if (envelope.context.idempotencyKey !== undefined && !wire.isKoine && !wire.isPlain) call.reportLoss(KEY_LOST);
  return encodeRequest(envelope, form, (loss) => call.reportLoss(loss));
}

const KEY_LOST: Loss = Object.freeze({
  protocol: "agora",
  path: "message.context.idempotencyKey",
  valueKind: "string",
  reason: "only Koine peers honour idempotency keys",
});

const NO_SOURCES: readonly string[] = Object.freeze([]);

/** The event for a reply. Unless the caller only wants a receipt, waits for the answer. */
async function answered(wire: Wire, operation: OperationOf<"send">, first: ReceivedReply, call: Call): Promise<AgentEvent> {
  const atOnce = operation.delivery === "accepted" && wire.isKoine;
  const received = atOnce ? first : await collected(wire, first, call);
  return answerTo(received, { wire, call, envelope: operation.envelope });
}

function reportSessionLoss(call: Call, reason: string): void {
  call.reportLoss({ protocol: "agora", path: "message.context.sessionId", valueKind: "string", reason });
}

/** Reports the options of a send that Agora or this peer does not support. */
function reportUnsupportedOptions(wire: Wire, operation: OperationOf<"send">, call: Call): void {
  const { delivery, task, push, outputModes, historyLength, metadata } = operation;
  if (push !== undefined) throw new AgentError("push_unsupported", "Agora has no push notifications", { sent: "no" });
  const reportLoss = (path: string, reason: string, valueKind = "string"): void =>
    call.reportLoss({ protocol: "agora", path: `operation.${path}`, valueKind, reason });
  if (outputModes !== undefined) reportLoss("outputModes", "a message cannot request content types", "object");
  if (historyLength !== undefined) reportLoss("historyLength", "a reply carries no history", "number");
  if (metadata !== undefined) reportLoss("metadata", "a request carries only its message", "object");
  if (delivery === "stream") reportLoss("delivery=stream", "answered with one final event");
  if (delivery === "accepted" && !wire.isKoine)
    reportLoss("delivery=accepted", "the peer issues no receipts; its answer is waited for");
  if (task === "always" && !wire.isKoine) reportLoss("task=always", "the peer has no tasks");
}

function taskEvent(wire: Wire, taskId: string, received: ReceivedReply, call: Call): AgentEvent {
  return { kind: "task", task: taskAbout(taskId, received, { wire, call, envelope: undefined }) };
}

async function close({ wire, conversations }: Session, sessionId: string, call: Call): Promise<AgentEvent> {
  const ids = await conversations.take(call.caller.owner, sessionId);
  // The plain form has no request for it: the peer ends what is not used.
  if (!wire.isPlain) for (const id of ids) await endConversation(wire, id, call);
  return { kind: "done" };
}

async function ping(wire: Wire, call: Call): Promise<void> {
  if (!wire.isPlain) return endConversation(wire, wire.ids.newId(), call);
  if (!(await takesPosts(wire.link, wire.peer.url, call)))
    throw new AgentError("unavailable", `${wire.peer.url} does not take messages`, { sent: "no" });
}

/** The peer limits conversations per caller: those of a closed client would be missing from the next one's. */
async function endAll({ wire, conversations }: Session): Promise<void> {
  const cancel = new CancelSource();
  const call = startCall({ cancel });
  const late = setTimeout(() => cancel.cancel(new AgentError("deadline", "the peer did not end a conversation in time")), END_MS);
  await Promise.allSettled(conversations.takeAll().map((id) => endConversation(wire, id, call)));
  clearTimeout(late);
}

async function card({ link, peer }: Wire, { extended }: OperationOf<"card">, call: Call): Promise<AgentEvent> {
  if (extended) throw new AgentError("card_not_configured", "this protocol has no extended card", { sent: "no" });
  const found = await fetchCard(link, peer.url, call, undefined);
  if (found?.kind !== "card") throw new AgentError("unsupported", "this peer has no discovery document");
  return { kind: "card", card: found.card };
}

function requireReceipts(wire: Wire, operation: Operation): void {
  if (!wire.isKoine) throw lacking(operation);
}

function lacking({ kind }: Operation): AgentError {
  const code = kind.startsWith("push.") ? "push_unsupported" : "unsupported_method";
  return new AgentError(code, `Agora has no ${kind}`, { sent: "no" });
}
