import {
  AgentError,
  type AgentEvent,
  type Call,
  type ErrorCode,
  isObject,
  type Operation,
  type OperationOf,
  type Reply,
} from "../../envelope/index.js";
import { encodeSegment } from "../../transport/address-parts.js";
import { isEventStream } from "../../transport/body.js";
import { type Chunk, type HttpResponse, isStream, type Link } from "../../transport/exchange.js";
import { blame, readArray, readObject } from "../../transport/fields.js";
import { NestedJson } from "../../transport/json.js";
import type { Limits } from "../../transport/limits.js";
import { badPeer } from "../../transport/peer-answer.js";
import { PeerEvents, type Source } from "../../transport/peer-events.js";
import { pollInbox } from "../poll-inbox.js";
import type { Client, ClientContext, IdSource } from "../protocol.js";
import { tlsProtection } from "../tls-protection.js";
import { agentAddress, agentUrl } from "./client/address.js";
import { answerIn, ask, checkStatus, EVENTS, type Question, requestFor } from "./client/ask.js";
import { fetchManifest } from "./client/fetch-manifest.js";
import { deliveredAt, PolledLog } from "./client/polled-log.js";
import { SessionIds } from "./client/session-ids.js";
import {
  type CodecFacts,
  decodeAnswer,
  decodeRun,
  encodeResume,
  encodeRunRequest,
  RunEventReader,
  runRequestText,
} from "./codec.js";
import { errorFromWire } from "./errors.js";
import { connectPlain } from "./plain/client.js";
import { PLAIN } from "./plain/discover.js";

type Send = OperationOf<"send">;
type Subscribe = OperationOf<"task.subscribe">;

/** The client side: encodes operations as requests, decodes runs as tasks. Never retries; a log that cannot be streamed is polled. */
export function connect(context: ClientContext): Client {
  const { link, peer, limits } = context;
  if (peer.binding === PLAIN.binding) return connectPlain(context);
  if (peer.binding !== "REST")
    throw new AgentError("unsupported", `the binding ${peer.binding} is not supported`, { sent: "no" });
  const { base, agentName = peer.card.name } = agentAddress(peer.url);
  const supportsKeys = peer.card.capabilities.idempotentSend;
  const wire: Wire = { link, ids: context, limits, base, agentName, supportsKeys, sessions: new SessionIds() };
  const handler = (operation: Operation, call: Call): Reply => {
    switch (operation.kind) {
      case "send":
        return send(wire, operation, call);
      case "task.get":
        return oneRun(wire, { method: "GET", url: runUrl(wire, operation.taskId), meant: OF_A_RUN }, call, operation);
      case "task.cancel":
        return oneRun(
          wire,
          { method: "POST", url: `${runUrl(wire, operation.taskId)}/cancel`, meant: OF_A_CANCEL },
          call,
          operation,
        );
      case "task.subscribe":
        return operation.follow ? follow(wire, operation, call) : wholeLog(wire, operation, call);
      case "card":
        return operation.extended ? refused("card_not_configured", "no extended card") : card(wire, call);
      case "ping":
        return ping(wire, call);
      case "task.list":
        return refused("unsupported_method", "no list of runs");
      case "session.close":
        return refused("unsupported_method", "no operation to close a session");
      case "push.set":
      case "push.get":
      case "push.list":
      case "push.delete":
        return refused("push_unsupported", "no push notifications");
      default:
        return operation satisfies never;
    }
  };
  return { handler, protection: () => tlsProtection(peer.url), receive: pollInbox(context), close: async () => undefined };
}

interface Wire {
  readonly link: Link;
  readonly ids: IdSource;
  readonly limits: Limits;
  readonly base: string;
  readonly agentName: string;
  /** The peer supports idempotency keys. */
  readonly supportsKeys: boolean;
  readonly sessions: SessionIds;
}

type Meant = ReadonlyMap<number, ErrorCode>;
/** A request without a body: the only thing to reject is the id, because a run id must be a UUID. */
const OF_A_RUN: Meant = new Map<number, ErrorCode>([
  [404, "task_not_found"],
  [422, "task_not_found"],
]);
/** The SDK server answers both with 403 and the code `server_error`. */
const OF_A_CANCEL: Meant = new Map<number, ErrorCode>([...OF_A_RUN, [403, "not_cancelable"]]);
const OF_A_RESUME: Meant = new Map<number, ErrorCode>([
  [404, "task_not_found"],
  [403, "task_closed"],
]);

function refused(code: ErrorCode, lacks: string): Promise<never> {
  return Promise.reject(new AgentError(code, `BeeAI ACP has ${lacks}`, { sent: "no" }));
}

function runUrl({ base }: Wire, taskId: string): string {
  if (taskId === "") throw new AgentError("invalid_message", "the task's id is missing", { field: "taskId", sent: "no" });
  return `${base}/runs/${encodeSegment(taskId, "taskId")}`;
}

/** A message to a task resumes its run; any other starts a run. */
function send(wire: Wire, operation: Send, call: Call): Reply {
  if (operation.after !== undefined)
    throw new AgentError("unsupported", "a stream is resumed with its task id, not by sending the message again", { sent: "no" });
  const question = questionOf(wire, operation, call);
  if (operation.delivery !== "stream") return oneRun(wire, question, call, operation);
  return events(wire, question, call, operation);
}

function questionOf(wire: Wire, operation: Send, call: Call): Question {
  const reportLoss = call.reportLoss.bind(call);
  const { taskId, sessionId, idempotencyKey } = operation.envelope.context;
  const accept = operation.delivery === "stream" ? EVENTS : undefined;
  if (idempotencyKey !== undefined && !wire.supportsKeys)
    reportLoss({
      protocol: "acp",
      path: "context.idempotencyKey",
      valueKind: "string",
      reason: "this peer does not declare support for idempotency keys",
    });
  if (taskId !== undefined) {
    const { body, headers } = encodeResume(operation, taskId, reportLoss);
    return { method: "POST", url: runUrl(wire, taskId), body: JSON.stringify(body), headers, accept, meant: OF_A_RESUME };
  }
  const session = wire.sessions.uuidFor(call.caller.owner, sessionId, reportLoss);
  const { body, headers } = encodeRunRequest(operation, wire.agentName, session, reportLoss);
  return { method: "POST", url: `${wire.base}/runs`, body: runRequestText(body), headers, accept };
}

async function oneRun(
  wire: Wire,
  question: Question,
  call: Call,
  operation: Send | OperationOf<"task.get" | "task.cancel">,
): Promise<AgentEvent> {
  const run = await ask(wire.link, question, call);
  const send = operation.kind === "send" ? operation : undefined;
  const facts = factsFor(wire, call, run, send);
  const event = decoded(
    (): AgentEvent => (send === undefined ? { kind: "task", task: decodeRun(run, facts) } : decodeAnswer(run, facts)),
  );
  const expected = operation.kind === "send" ? operation.envelope.context.taskId : operation.taskId;
  if (event.kind === "task" && expected !== undefined && event.task.id.toLowerCase() !== expected.toLowerCase())
    throw new AgentError("bad_peer", "the server returned another run than requested");
  return event;
}

function factsFor({ ids, limits, agentName, sessions }: Wire, call: Call, run: unknown, operation?: Send): CodecFacts {
  const session = isObject(run) ? run["session_id"] : undefined;
  return {
    now: ids.now(),
    newId: () => ids.newId(),
    src: agentName,
    dst: call.caller.id,
    partsPerMessage: limits.partsPerMessage,
    nested: new NestedJson(limits),
    reportLoss: (loss) => call.reportLoss(loss),
    contextId: operation?.envelope.context.sessionId ?? sessions.nameOf(call.caller.owner, session),
    parentId: operation?.envelope.id,
  };
}

/** Reads a stream of events. A peer may answer with the complete run instead. */
function events(wire: Wire, question: Question, call: Call, operation: Send): AsyncIterable<AgentEvent> {
  return peerEvents(wire, readerFor(wire, call, operation), async () => {
    const response = await wire.link.exchange(requestFor(question, call));
    if (response.status < 300 && isEventStream(response.headers["content-type"])) return { chunks: chunksOf(response) };
    const run = answerIn(response, question);
    return { single: { type: "run.created", run } };
  });
}

type ReadItem = (item: unknown) => readonly AgentEvent[];

function peerEvents({ limits }: Wire, read: ReadItem, open: () => Promise<Source>, whole = true): PeerEvents {
  const withoutTask = whole ? "refuse" : "accept";
  return new PeerEvents({ limits, open, read: unlessError, withoutTask, decode: (item) => decoded(() => read(item)) });
}

/** The events of one run. The first event determines its session. */
function readerFor(wire: Wire, call: Call, operation: Send | Subscribe): ReadItem {
  let reader: RunEventReader | undefined;
  return (item) => {
    const run = isObject(item) ? item["run"] : undefined;
    reader ??= new RunEventReader(factsFor(wire, call, run, operation.kind === "send" ? operation : undefined));
    return reader.read(item);
  };
}

function unlessError(item: unknown): unknown {
  if (isObject(item) && item["type"] === "error") throw errorFromWire(item["error"]);
  return item;
}

/** Koine servers can resume a stream at a cursor; from others the whole log is polled until the run has ended. */
function follow(wire: Wire, operation: Subscribe, call: Call): AsyncIterable<AgentEvent> {
  const question = logQuestion(wire, operation, EVENTS);
  const read = readerFor(wire, call, operation);
  const delivered = deliveredAt(operation.after);
  const open = async (): Promise<Source> => {
    const response = await wire.link.exchange(requestFor(question, call));
    checkStatus(response, question.meant);
    if (isEventStream(response.headers["content-type"])) return { chunks: chunksOf(response) };
    const again = { ...question, accept: "application/json" };
    const first = eventsIn(answerIn(response, question));
    // Earlier events are decoded too, because later ones depend on their state.
    for (const item of first.slice(0, delivered ?? 0)) decoded(() => read(item));
    const now = (): number => wire.ids.now();
    return {
      items: new PolledLog({
        first,
        delivered: delivered ?? 0,
        read: async () => eventsIn(await ask(wire.link, again, call)),
        call,
        now,
      }),
    };
  };
  return peerEvents(wire, read, open, delivered === undefined);
}

/** The log after a cursor. Earlier events are decoded for their state, but not emitted. */
async function* wholeLog(wire: Wire, operation: Subscribe, call: Call): AsyncGenerator<AgentEvent, void, void> {
  const log = eventsIn(await ask(wire.link, logQuestion(wire, operation, "application/json"), call));
  const read = readerFor(wire, call, operation);
  const delivered = deliveredAt(operation.after) ?? 0;
  for (const [index, item] of log.entries()) {
    const events = decoded(() => read(item));
    if (index >= delivered) yield* events;
  }
}

function logQuestion(wire: Wire, { taskId, after }: Subscribe, accept: string): Question {
  const headers = after === undefined || deliveredAt(after) !== undefined ? undefined : { "last-event-id": after };
  return { method: "GET", url: `${runUrl(wire, taskId)}/events`, accept, headers, meant: OF_A_RUN };
}

function eventsIn(body: unknown): readonly unknown[] {
  return decoded(() => readArray(readObject(body, "body").events, "events", (item) => item));
}

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

/** A response that is already complete has one chunk. */
async function* once(body: Chunk): AsyncGenerator<Chunk, void, void> {
  yield body;
}

function chunksOf({ body }: HttpResponse): AsyncIterator<Chunk> {
  return isStream(body) ? body[Symbol.asyncIterator]() : once(body ?? "");
}

async function card({ link, base, agentName }: Wire, call: Call): Promise<AgentEvent> {
  const { card: found } = await fetchManifest(link, agentUrl(base, agentName), call);
  return { kind: "card", card: found };
}

/** The server responds, and still has this agent. */
async function ping({ link, base, agentName }: Wire, call: Call): Promise<AgentEvent> {
  const response = await link.exchange(requestFor({ method: "GET", url: `${base}/ping` }, call));
  answerIn(response, {});
  const { card: found } = await fetchManifest(link, agentUrl(base, agentName), call);
  if (found.name !== agentName) throw badPeer(response, `the server returned the agent ${found.name} instead of ${agentName}`);
  return { kind: "done" };
}
