import {
  AgentError,
  type AgentEvent,
  type Card,
  type Envelope,
  type Maybe,
  type Operation,
  parseTraceparent,
  textPart,
} from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { bodyOf, decodeRequest, keyIn, taskNamedIn } from "../codec.js";
import type { AgoraSettings } from "../settings.js";
import type { AnswerCache, ResponderAnswer } from "./answer-cache.js";
import { agentMessage, type Outcome, outcomeOf } from "./answers.js";
import type { Conversation } from "./conversations.js";
import type { Answerer, IncomingMessage, Responder } from "./incoming-message.js";
import { holdsJson, type JsonBodies } from "./routines.js";
import { ask, isCode, taskOfMessage, taskWithin } from "./work.js";

/** The context of every turn. */
export interface TurnTools {
  readonly host: Host;
  readonly settings: AgoraSettings;
  readonly answers: AnswerCache;
  /** Throws `not_found`. */
  cardNamed(name: Maybe<string>): Card;
}

const SESSION = "message.context.sessionId";

/** Answers one message. */
export function takeTurn(
  tools: TurnTools,
  incoming: IncomingMessage,
  answerer: Answerer,
): Promise<Outcome & Partial<Pick<ResponderAnswer, "state">>> {
  return answerer.kind === "agent" ? askAgent(tools, incoming, answerer) : respond(tools, incoming, answerer.responder);
}

async function respond(
  tools: TurnTools,
  incoming: IncomingMessage,
  responder: Responder,
): Promise<Outcome & Pick<ResponderAnswer, "state">> {
  const { host, answers, cardNamed } = tools;
  const { wire, conversation, caller, agent, call } = incoming;
  const text = wire.body ?? bodyOf(wire.seed ?? []);
  const key = keyOf(incoming);
  const answer = (): Promise<ResponderAnswer> => responder.reply(conversation?.state, text, incoming);
  const identity = [agent, conversation?.id ?? null, wire.hash ?? null, text];
  const keepMs = cardNamed(agent).capabilities.idempotencyWindowMs;
  const { state, body } = await (key === undefined
    ? answer()
    : answers.once({ owner: caller.owner, key, identity, keepMs, cancel: call.cancel }, answer));
  const sessionId = conversation?.session ?? wire.metadata.session;
  const message = agentMessage(incoming, [textPart(body)], { sessionId }, host);
  return { message, task: undefined, open: undefined, json: false, state };
}

/** The idempotency key of a message. Throws `invalid_message` if header and body disagree. */
export function keyOf({ request, wire }: IncomingMessage): Maybe<string> {
  const header = request.headers["idempotency-key"];
  const { idempotency_key: member = header } = wire.metadata;
  if (header !== undefined && member !== header)
    throw new AgentError("invalid_message", "the Idempotency-Key header and metadata.idempotency_key differ", {
      field: "Idempotency-Key",
    });
  return member ?? keyIn(wire);
}

/** One turn of the agent: a new message, the answer to its question, or the result of a running task. */
async function askAgent(
  tools: TurnTools,
  incoming: IncomingMessage,
  { intent, json }: { readonly intent: Maybe<string>; readonly json: JsonBodies },
): Promise<Outcome> {
  const { host, settings } = tools;
  const { call, conversation, wire } = incoming;
  const newId = (): string => host.newId();
  if (conversation?.collects === true && conversation.taskId !== undefined && taskNamedIn(wire) === undefined) {
    const waitMs = wire.metadata.prefer === "receipt" ? 0 : settings.replyWithinMs;
    return outcomeOf(await taskWithin(host, conversation.taskId, call, waitMs), incoming, false, newId);
  }
  const asJson = holdsJson(json, wire.body);
  const envelope = envelopeOf(host, incoming, intent, asJson);
  return outcomeOf(await send(tools, incoming, envelope), incoming, asJson, newId);
}

function envelopeOf(host: Host, incoming: IncomingMessage, intent: Maybe<string>, json: boolean): Envelope {
  const { request, wire, caller, agent, conversation, call } = incoming;
  const { session } = wire.metadata;
  if (conversation !== undefined && session !== undefined && session !== conversation.session)
    call.reportLoss({
      protocol: "agora",
      path: SESSION,
      valueKind: "string",
      reason: "a conversation keeps its first session id",
    });
  const idempotencyKey = keyOf(incoming);
  const envelope = decodeRequest(wire, {
    now: host.now(),
    newId: () => host.newId(),
    src: caller.id,
    dst: agent,
    intent,
    json,
    sessionId: conversation?.session,
    taskId: taskOf(conversation, idempotencyKey),
  });
  const { traceId = parseTraceparent(request.headers["traceparent"])?.traceId } = envelope.context;
  if (idempotencyKey === envelope.context.idempotencyKey && traceId === envelope.context.traceId) return envelope;
  return { ...envelope, context: { ...envelope.context, idempotencyKey, traceId } };
}

/** A replayed answer belongs to its original task, which the conversation no longer waits for. */
function taskOf(conversation: Maybe<Conversation>, key: Maybe<string>): Maybe<string> {
  const { taskId, answered } = conversation ?? {};
  return taskId ?? (key !== undefined && answered?.key === key ? answered.taskId : undefined);
}

/**
 * In a conversation the work is a task: it continues if the caller disconnects, and a slow answer is replaced by a receipt. A
 * single message has no conversation to collect it with, so it waits.
 */
async function send(
  { host, settings }: TurnTools,
  { call, conversation, wire }: IncomingMessage,
  envelope: Envelope,
): Promise<AgentEvent> {
  const delivery = wire.metadata.prefer === "receipt" ? "accepted" : "answer";
  const operation: Operation = { kind: "send", envelope, delivery, task: conversation === undefined ? "auto" : "always" };
  if (conversation === undefined || delivery === "accepted") return ask(host, operation, call);
  try {
    return await ask(host, operation, call.derive({ deadline: host.now() + settings.replyWithinMs }));
  } catch (thrown) {
    if (!isCode(thrown, "deadline")) throw thrown;
    const task = await taskOfMessage(host, conversation.session, envelope.id, call);
    if (task === undefined) throw thrown;
    return { kind: "task", task };
  }
}
