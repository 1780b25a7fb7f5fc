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
import { answerable } from "../../answerable.js";
import type { Host } from "../../protocol.js";
import { aboutTask, encodeReply, type ReadRequest, readRequest } from "../codec.js";
import { type ErrorForm, errorReply } from "../errors.js";
import type { WireReply } from "../wire.js";
import type { Answerers } from "./answerers.js";
import { type Outcome, outcomeOf, WorkFailed } from "./answers.js";
import type { Asked } from "./asked.js";
import { type Change, type Conversation, type Conversations, notFound } from "./conversations.js";
import { checkKey } from "./kept-answers.js";
import type { Routines } from "./routines.js";
import { keyOf, type TurnTools, takeTurn } from "./turn.js";
import type { Where } from "./where.js";
import { ask, isCode, taskNow } from "./work.js";

export interface MessageTools extends TurnTools {
  readonly routines: Routines;
  readonly conversations: Conversations;
  readonly answerers: Answerers;
  /** False where the host has nowhere to keep a conversation: then none is open. */
  remembers(): boolean;
  /** Throws `not_found`. */
  cardNamed(name: Maybe<string>): Card;
}

const VIA: Via = Object.freeze({ protocol: "agora", version: "0.2", binding: "HTTP" });
const SUCCESS = '{"status":"success"}';

/** Answers a message: a new one, or with an id the next message of a conversation. All errors use the Agora format. */
export async function answerMessage(
  tools: MessageTools,
  request: HttpRequest,
  where: Where,
  id: Maybe<string>,
): Promise<HttpResponse> {
  let form: ErrorForm = { dialect: tools.settings.dialect, whole: false };
  try {
    const caller = await tools.host.admit(request);
    requireJson(request);
    const wire = readRequest(request.json());
    const whole = wire.metadata.koine === 1;
    if (whole) form = { dialect: form.dialect, whole };
    return await answerRead(tools, { request, caller, where, wire, id });
  } catch (thrown) {
    const task = thrown instanceof WorkFailed ? thrown.task : undefined;
    return errorReply(answerable(tools.host, thrown), task === undefined ? form : { ...form, task });
  }
}

interface Read {
  readonly request: HttpRequest;
  readonly caller: Principal;
  readonly where: Where;
  readonly wire: ReadRequest;
  readonly id: Maybe<string>;
}

async function answerRead(tools: MessageTools, read: Read): Promise<HttpResponse> {
  const { wire, where, id, caller } = read;
  const { receipt, cancel } = wire.metadata;
  if (cancel !== undefined || receipt !== undefined) return runErrand(tools, read, tools.cardNamed(where.agent));
  if (id !== undefined)
    return tools.conversations.inTurn(caller.owner, id, read.request.cancel, (conversation, waited) => {
      if (where.agent !== undefined && where.agent !== conversation.agent) throw notFound();
      if (waited && conversation.collects) throw notHeard();
      return goOn(tools, askedOf(tools, read, tools.cardNamed(conversation.agent)), conversation);
    });
  const routine = typeof wire.hash === "string" ? await tools.routines.find(wire.hash, where.agent) : undefined;
  return begin(tools, askedOf(tools, read, tools.cardNamed(where.agent ?? routine?.agent)));
}

function askedOf({ host }: MessageTools, { request, caller, wire }: Read, card: Card): Asked {
  return { request, caller, wire, call: callFor(host, request, caller, card), agent: card.name, conversation: undefined };
}

function callFor(host: Host, request: HttpRequest, caller: Principal, card: Card): Call {
  const { traceparent, tracestate } = request.headers;
  const parameters: Head =
    traceparent === undefined ? NO_HEAD : tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  return host.begin(request, { caller, agent: card.name, via: VIA, parameters });
}

/** The first message. A conversation is opened before anybody works, and closed again when nothing comes of it. */
async function begin(tools: MessageTools, asked: Asked): Promise<HttpResponse> {
  const { conversations } = tools;
  const { wire, caller, agent, call } = asked;
  const hash = wire.hash ?? null;
  const answerer = await tools.answerers.find(asked, tools.cardNamed(agent), hash);
  if (!wire.multiround) return replyWith(asked, await takeTurn(tools, asked, answerer), undefined);
  const key = keyOf(asked);
  if (key !== undefined) checkKey(key);
  const { conversation, again } = await conversations.open(caller.owner, {
    agent,
    hash,
    session: wire.metadata.session || undefined,
    key,
  });
  checkHash(conversation, hash);
  // What the conversation has come to meanwhile is nothing that its first message knew of.
  const opened: Conversation = again ? { ...conversation, taskId: undefined, collects: false, state: undefined } : conversation;
  async function first(): Promise<HttpResponse> {
    const outcome = await takeTurn(tools, { ...asked, conversation: opened }, answerer);
    if (!again || isFresh(conversation)) await conversations.keep(caller.owner, conversation, changeOf(outcome));
    return replyWith(asked, outcome, conversation.id);
  }
  try {
    return await (key === undefined ? first() : conversations.inTurn(caller.owner, conversation.id, call.cancel, first));
  } catch (thrown) {
    if (!again) await conversations.close(caller.owner, conversation.id, agent);
    throw thrown;
  }
}

/** Nothing was remembered in it yet. */
function isFresh({ taskId, state }: Conversation): boolean {
  return taskId === undefined && state === undefined;
}

function checkHash(conversation: Conversation, hash: string | null | undefined): void {
  if (hash === undefined || hash === conversation.hash) return;
  throw new AgentError("conflict", "protocolHash is not that of the conversation; open another one", { field: "protocolHash" });
}

/** It was sent before its caller could know of a receipt, so it is no message that collects. */
function notHeard(): AgentError {
  return new AgentError("conflict", "an earlier message got a receipt meanwhile: collect its result, then send this one again");
}

/** A further message of a conversation: what it follows was settled by the first. */
async function goOn(tools: MessageTools, asked: Asked, conversation: Conversation): Promise<HttpResponse> {
  const { owner } = asked.caller;
  checkHash(conversation, asked.wire.hash);
  const further = { ...asked, conversation };
  const answerer = await tools.answerers.find(further, tools.cardNamed(conversation.agent), conversation.hash);
  try {
    const outcome = await takeTurn(tools, further, answerer);
    await tools.conversations.keep(owner, conversation, { ...changeOf(outcome), answered: answeredBy(asked, conversation) });
    return replyWith(asked, outcome, undefined);
  } catch (thrown) {
    // The work it waited for is over: the next message begins something new.
    const answered = answeredBy(asked, conversation);
    if (isOver(thrown)) await tools.conversations.keep(owner, conversation, { taskId: undefined, collects: false, answered });
    throw thrown;
  }
}

function answeredBy(asked: Asked, { taskId, collects }: Conversation): Change["answered"] {
  const key = keyOf(asked);
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
async function runErrand(tools: MessageTools, read: Read, card: Card): Promise<HttpResponse> {
  const { host } = tools;
  const asked = askedOf(tools, read, card);
  const { cancel, receipt } = read.wire.metadata;
  if (cancel === undefined) {
    const event = await taskNow(host, receipt?.id ?? "", asked.call);
    return replyWith(
      asked,
      outcomeOf(event, asked, false, () => host.newId()),
      undefined,
    );
  }
  const event = await ask(host, { kind: "task.cancel", taskId: cancel }, asked.call);
  if (event.kind !== "task") throw new AgentError("internal", `a ${event.kind} does not answer task.cancel`);
  const body = `The work ${cancel} is ${event.task.status.state}.`;
  const reply: WireReply = { status: "success", body, metadata: { koine: 1, ...aboutTask(event.task, body) } };
  return jsonResponse(200, JSON.stringify(reply));
}

function replyWith({ wire, call }: Asked, { message, task, json }: Outcome, conversationId: Maybe<string>): HttpResponse {
  const whole = wire.metadata.koine === 1;
  const reply = encodeReply(message, { conversationId, whole, json, task }, (loss) => call.reportLoss(loss));
  return jsonResponse(200, JSON.stringify(reply));
}

/** The end of a conversation; that of an unknown one is the same. */
export async function hangUp(tools: MessageTools, request: HttpRequest, { agent }: Where, id: string): Promise<HttpResponse> {
  const { host, conversations, settings } = tools;
  try {
    const caller = await host.admit(request);
    const closed = tools.remembers() ? await conversations.close(caller.owner, id, agent) : undefined;
    if (closed !== undefined)
      await tellAgent(host, callFor(host, request, caller, tools.cardNamed(closed.agent)), closed.session);
    return jsonResponse(200, SUCCESS);
  } catch (thrown) {
    return errorReply(answerable(host, thrown), { dialect: settings.dialect, whole: false });
  }
}

/** The handler may hold state for the session too; most do not. */
async function tellAgent(host: Host, call: Call, sessionId: string): Promise<void> {
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
