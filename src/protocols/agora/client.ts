import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  type Loss,
  type Maybe,
  type Operation,
  type OperationOf,
} from "../../envelope/index.js";
import type { Link } from "../../transport/exchange.js";
import type { IdSource, Peer } from "../protocol.js";
import { answerTo, taskAbout } from "./client/answer.js";
import { Conversations } from "./client/conversations.js";
import { type SpokenDocument, SpokenDocuments } from "./client/documents.js";
import { collected, errand } from "./client/errand.js";
import { fetchCard } from "./client/fetch-card.js";
import { isOwnPeer } from "./client/own-peer.js";
import { type Heard, hangUp, post, type Wire } from "./client/post.js";
import { type TaskPlace, TaskPlaces } from "./client/task-places.js";
import { encodeRequest, type RequestForm } from "./codec.js";
import type { SenderOptions } from "./sender/options.js";
import type { Sender } from "./sender/sender.js";
import type { WireRequest } from "./wire.js";

export interface ClientOptions {
  /** Document texts that the client knows, in addition to those on the card of the peer. */
  readonly documents?: readonly string[];
  /** Moves repeated tasks from natural language to documents, and from models to routines. Default: off. */
  readonly sender?: SenderOptions;
}

/** The client side: one request per message, never retried. */
export function connectWith(options: ClientOptions = {}): (link: Link, peer: Peer, ids: IdSource) => Handler {
  return (link, peer, ids) => {
    const wire: Wire = { link, peer, ids, ours: isOwnPeer(peer.card) };
    const session: Session = {
      wire,
      conversations: new Conversations(),
      places: new TaskPlaces(),
      documents: new SpokenDocuments(peer.card, options.documents ?? []),
    };
    const sender = options.sender === undefined ? undefined : loadSender(wire, session.documents, options.sender);
    return function callPeer(operation, call) {
      if (operation.kind !== "send") return perform(session, operation, call);
      sayWhatIsNotDone(wire, operation, call);
      if (sender === undefined) return send(session, operation, call);
      return sender.then((loaded) => (loaded.takes(operation) ? loaded.run(operation, call) : send(session, operation, call)));
    };
  };
}

/** Loaded only for clients that configure a sender. */
async function loadSender(wire: Wire, documents: SpokenDocuments, options: SenderOptions): Promise<Sender> {
  const { senderFor } = await import("./sender/sender.js");
  return senderFor(wire, documents, options);
}

interface Session {
  readonly wire: Wire;
  readonly conversations: Conversations;
  readonly places: TaskPlaces;
  readonly documents: SpokenDocuments;
}

async function perform(session: Session, operation: Exclude<Operation, OperationOf<"send">>, call: Call): Promise<AgentEvent> {
  const { wire } = session;
  switch (operation.kind) {
    case "task.get":
      requireReceipts(wire, operation);
      return taskEvent(wire, operation.taskId, await errand(wire, { receipt: { id: operation.taskId } }, call), call);
    case "task.cancel":
      requireReceipts(wire, operation);
      return taskEvent(wire, operation.taskId, await errand(wire, { cancel: operation.taskId }, call), call);
    case "session.close":
      return close(session, operation.sessionId, call);
    case "ping":
      await hangUp(wire, wire.ids.newId(), call);
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
  const place = session.places.of(call.caller.owner, context.taskId);
  if (place !== undefined) return sayThere(session, operation, place, call);
  const document = session.documents.find(intent);
  // Stays synchronous where possible: a message is sent even if the link is closed right after the call.
  return document instanceof Promise
    ? document.then((found) => say(session, operation, found, call))
    : say(session, operation, document, call);
}

async function say(session: Session, operation: OperationOf<"send">, document: Document, call: Call): Promise<AgentEvent> {
  const { wire, conversations, places } = session;
  const { sessionId } = operation.envelope.context;
  const { cancel, caller } = call;
  const message = written(wire, operation, { document, multiround: sessionId !== undefined }, call);
  async function one(conversationId: Maybe<string>): Promise<Heard> {
    const heard = await post(wire, conversationId, message, call);
    const id = conversationId ?? heard.reply.conversationId;
    if (id !== undefined) places.note(caller.owner, heard, { conversationId: id, document });
    return heard;
  }
  if (sessionId === undefined) return answered(wire, operation, await one(undefined), call);
  const speech = { owner: caller.owner, sessionId, hash: document?.hash ?? "", cancel, send: one };
  const heard = await conversations.say(speech);
  if (!conversations.has(caller.owner, sessionId) && heard.error === undefined)
    loseSession(call, "the peer opens no conversations: every message stands alone");
  else if (!wire.ours) loseSession(call, "the peer names its conversations itself");
  return answered(wire, operation, heard, call);
}

/** Sends into the conversation of the task. If that has expired, addresses the task without a conversation. */
async function sayThere(session: Session, operation: OperationOf<"send">, place: TaskPlace, call: Call): Promise<AgentEvent> {
  const { wire, places } = session;
  const { document, conversationId } = place;
  const { owner } = call.caller;
  const there = await post(wire, conversationId, written(wire, operation, { document, multiround: true }, call), call);
  if (there.error?.code !== "session_expired") {
    places.note(owner, there, place);
    return answered(wire, operation, there, call);
  }
  places.forget(owner, operation.envelope.context.taskId ?? "");
  const alone = written(wire, operation, { document: undefined, multiround: false }, call);
  return answered(wire, operation, await post(wire, undefined, alone, call), call);
}

type Document = Maybe<SpokenDocument>;

function written(
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
    whole: wire.ours,
    prefer: delivery === "accepted" && wire.ours ? "receipt" : undefined,
  };
  if (envelope.context.idempotencyKey !== undefined && !wire.ours) call.reportLoss(KEY_LOST);
  return encodeRequest(envelope, form, (loss) => call.reportLoss(loss));
}

const KEY_LOST: Loss = Object.freeze({
  protocol: "agora",
  path: "message.context.idempotencyKey",
  valueKind: "string",
  reason: "only our own peers keep to keys",
});

const NO_SOURCES: readonly string[] = Object.freeze([]);

/** The event for a reply. Unless the caller only wants a receipt, waits for the answer. */
async function answered(wire: Wire, operation: OperationOf<"send">, first: Heard, call: Call): Promise<AgentEvent> {
  const atOnce = operation.delivery === "accepted" && wire.ours;
  const heard = atOnce ? first : await collected(wire, first, call);
  return answerTo(heard, { wire, call, envelope: operation.envelope });
}

function loseSession(call: Call, reason: string): void {
  call.reportLoss({ protocol: "agora", path: "message.context.sessionId", valueKind: "string", reason });
}

/** Reports the options of a send that Agora or this peer does not support. */
function sayWhatIsNotDone(wire: Wire, operation: OperationOf<"send">, call: Call): void {
  const { delivery, task, push, outputModes, historyLength, metadata } = operation;
  if (push !== undefined) throw new AgentError("push_unsupported", "Agora has no push notifications", { sent: "no" });
  const lose = (path: string, reason: string, valueKind = "string"): void =>
    call.reportLoss({ protocol: "agora", path: `operation.${path}`, valueKind, reason });
  if (outputModes !== undefined) lose("outputModes", "a message takes no wish for content types", "object");
  if (historyLength !== undefined) lose("historyLength", "a reply is an answer, not what was said before", "number");
  if (metadata !== undefined) lose("metadata", "a request has nothing beside its message", "object");
  if (delivery === "stream") lose("delivery=stream", "answered with one final event");
  if (delivery === "accepted" && !wire.ours) lose("delivery=accepted", "the peer gives no receipts: its answer is waited for");
  if (task === "always" && !wire.ours) lose("task=always", "the peer has no tasks");
}

function taskEvent(wire: Wire, taskId: string, heard: Heard, call: Call): AgentEvent {
  return { kind: "task", task: taskAbout(taskId, heard, { wire, call, envelope: undefined }) };
}

async function close({ wire, conversations }: Session, sessionId: string, call: Call): Promise<AgentEvent> {
  for (const id of await conversations.take(call.caller.owner, sessionId)) await hangUp(wire, id, call);
  return { kind: "done" };
}

async function card({ link, peer }: Wire, { extended }: OperationOf<"card">, call: Call): Promise<AgentEvent> {
  if (extended) throw new AgentError("card_not_configured", "this protocol has no extended card", { sent: "no" });
  const found = await fetchCard(link, peer.url, call, undefined);
  if (found?.kind !== "card") throw new AgentError("unsupported", "this peer says nothing about itself");
  return { kind: "card", card: found.card };
}

function requireReceipts(wire: Wire, operation: Operation): void {
  if (!wire.ours) throw lacking(operation);
}

function lacking({ kind }: Operation): AgentError {
  const code = kind.startsWith("push.") ? "push_unsupported" : "unsupported_method";
  return new AgentError(code, `Agora has no ${kind}`, { sent: "no" });
}
